import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What docker-compose.yml says, as far as the rehearsal understands it. */
export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
}

export interface ComposeService {
  image?: string;
  build?: { context: string; dockerfile: string; args: { WORKSPACE: string } };
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  /** `source:target` or `source:target:ro`. */
  volumes?: string[];
  networks?: string[];
  ports?: string[];
  container_name?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}

export const repositoryRoot = join(import.meta.dirname, '../../../..');

/** `${NAME:-default}` becomes the default, as where no variable is set. */
export async function readComposeFile(): Promise<ComposeFile> {
  const text = await readFile(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  return parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$'), { merge: true });
}

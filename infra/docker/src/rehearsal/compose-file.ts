import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The parts of docker-compose.yml that the rehearsal understands. */
export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
}

export interface ComposeService {
  image?: string;
  build?: { context: string; dockerfile: string; args: { WORKSPACE: string } };
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  /** `source:target`, `source:target:ro`, or `target` alone, which is an anonymous volume. */
  volumes?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  container_name?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  restart?: string;
  /** In seconds, for example `30s`. */
  stop_grace_period?: string;
  profiles?: string[];
  user?: string;
  privileged?: boolean;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  pids_limit?: number;
  mem_limit?: string;
  memswap_limit?: string;
  ulimits?: Record<string, unknown>;
}

export interface Mount {
  /** Name of a volume, a path that begins with `./`, or undefined for an anonymous volume. */
  source: string | undefined;
  target: string;
  readOnly: boolean;
}

export function mountsOf({ volumes = [] }: ComposeService): Mount[] {
  return volumes.map((volume) => {
    const [first = '', second, mode] = volume.split(':');
    return second === undefined
      ? { source: undefined, target: first, readOnly: false }
      : { source: first, target: second, readOnly: mode === 'ro' };
  });
}

export const repositoryRoot = join(import.meta.dirname, '../../../..');

/**
 * Reads the file as if no variable were set: `${NAME:-default}` becomes the default, which may hold another variable.
 */
export async function readComposeFile(): Promise<ComposeFile> {
  const text = await readFile(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  let plain = text;
  for (let before = ''; before !== plain; ) {
    before = plain;
    plain = before.replace(/\$\{\w+:-([^${}]*)\}/g, '$1');
  }
  return parse(plain.replaceAll('$$', '$'), { merge: true });
}

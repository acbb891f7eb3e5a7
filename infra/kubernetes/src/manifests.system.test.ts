import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { allocatorEnvironment, nodeOptions } from '@sluice/local';
import { repositoryRoot } from '@sluice/local/parts';
import type { ConfigSchema } from '@sluice/service-runtime';
import { eventually, openTestDatabase, randomSecrets, testRedisUrl, useStack } from '@sluice/testing';
import { parse } from 'yaml';
import { configSchema as managementApi } from '../../../services/management-api/src/config.ts';
import { configSchema as proxyGateway } from '../../../services/proxy-gateway/src/config.ts';
import { configSchema as tokenVault } from '../../../services/token-vault/src/config.ts';
import { configSchema as worker } from '../../../services/worker/src/config.ts';
import { migrateSchema } from '../../docker/src/config.ts';
import { configSchema as ingress } from '../../ingress/src/config.ts';
import { findKubectl, render } from './kubectl.ts';
import { type Kind, type Manifest, nameOf, type OfKind, ofKind, type Workload, workloadsOf } from './manifest.ts';
import { manifestFaults } from './manifest-faults.ts';
import type { Product } from './product.ts';
import { schemaFaults } from './schema-faults.ts';
import { type Pod, probe, startPod } from './testing/pod.ts';
import { scrapeTargets } from './testing/scrape-targets.ts';

const schemas: Record<string, ConfigSchema> = {
  'management-api': managementApi,
  'token-vault': tokenVault,
  'proxy-gateway': proxyGateway,
  worker,
  ingress,
  migrate: migrateSchema,
};

const images = {
  'management-api': 'services/management-api',
  'token-vault': 'services/token-vault',
  'proxy-gateway': 'services/proxy-gateway',
  worker: 'services/worker',
  ingress: 'infra/ingress',
  'one-shot': 'infra/docker',
};

const folder = join(import.meta.dirname, '..');

/** The manifests, rendered, and a database that nothing has migrated. */
const scene = useStack(async (stack) => {
  const kubectl = await findKubectl(join(repositoryRoot, '.sluice', 'downloads'));
  const manifests = await render(kubectl, join(folder, 'overlays/example'));
  const withSignIn = await render(kubectl, join(folder, 'overlays/sign-in'));
  const { db, url } = await openTestDatabase(stack);
  await db.schema.dropSchema('public').cascade().execute();
  await db.schema.createSchema('public').execute();
  const root = stack.adopt(await mkdtemp(join(tmpdir(), 'sluice-pods-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  const secrets = randomSecrets();
  const files = {
    '/run/sluice/stores/database-url': url,
    '/run/sluice/stores/redis-url': testRedisUrl(),
    '/run/sluice/keys/key-pepper': secrets.KEY_PEPPER,
    '/run/sluice/keys/root-key': secrets.ROOT_KEY,
    '/run/sluice/ledger/ledger-key': String(
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const start = (name: string) => {
    const workload = workloadsOf(manifests).find((one) => one.name === name);
    const image = /([^/:]+):[^/]*$/.exec(workload?.container.image ?? '')?.[1] ?? '';
    const workspace = Object.entries(images).find(([one]) => one === image)?.[1];
    if (!workload || !workspace) throw new Error(`${name} is not in the manifests`);
    return startPod(workload, { root, workspace, stack });
  };
  return { manifests, withSignIn, start, pods: new Map<string, Pod>() };
});

const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker'];

const podOf = (name: string): Pod => {
  const pod = scene.current.pods.get(name);
  if (!pod) throw new Error(`${name} was not started`);
  return pod;
};

/** Runs a command that the README gives to a pod of management-api. @returns what it printed. */
async function runOfReadme(command: RegExp): Promise<string> {
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const [, words = ''] = new RegExp(`exec deploy/management-api -- node (${command.source})`).exec(readme) ?? [];
  const { stdout } = await promisify(execFile)(process.execPath, words.split(' '), {
    cwd: join(repositoryRoot, images['management-api']),
    env: podOf('management-api').environment,
  });
  return stdout;
}

test('a pod is started as the image says, and as `npm start` starts its services', async () => {
  const dockerfile = await readFile(join(repositoryRoot, 'infra/docker/Dockerfile'), 'utf8');
  const [, command = ''] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(command)).toEqual(['node', ...nodeOptions, 'src/main.ts']);
  const variables = [...dockerfile.matchAll(/^ENV (MALLOC_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
  expect(Object.fromEntries(variables)).toEqual(allocatorEnvironment);
});

describe('what is rendered runs:', () => {
  test.each(services)('%s is alive without a migrated database, and waits', async (name) => {
    const pod = await scene.current.start(name);
    scene.current.pods.set(name, pod);
    await eventually(`${name} is alive`, async () => (await probe(pod, 'startupProbe')).status === 200);
    await eventually(`${name} has started`, async () => /migrated/.test((await probe(pod, 'readinessProbe')).body));
    expect((await probe(pod, 'readinessProbe')).status).toBe(503);
    expect((await probe(pod, 'livenessProbe')).status).toBe(200);
  });

  test('the Job migrates, and all are ready without a restart', async () => {
    const job = await scene.current.start('migrate');
    expect([await job.exitCode, await job.output]).toEqual([0, expect.stringContaining('Applied 0001')]);
    for (const name of services) {
      await eventually(`${name} is ready`, async () => (await probe(podOf(name), 'readinessProbe')).status === 200);
    }
    const again = await scene.current.start('migrate');
    expect([await again.exitCode, await again.output]).toEqual([0, 'The database is up to date\n']);
  });

  test('the ingress is ready beside them, and names its services as the manifests do', async () => {
    const pod = await scene.current.start('ingress');
    await eventually('the ingress is ready', async () => (await probe(pod, 'readinessProbe')).status === 200);
    const named = ofKind(scene.current.manifests, 'Service').map((service) => `http://${nameOf(service)}`);
    const { MANAGEMENT_API_URL, TOKEN_VAULT_URL, PROXY_GATEWAY_URL } = pod.environment;
    expect(named).toEqual(expect.arrayContaining([MANAGEMENT_API_URL, TOKEN_VAULT_URL, PROXY_GATEWAY_URL]));
  });

  test('the command of the README makes the first Tenant in a pod of management-api', async () => {
    const { tenant_id, management_key } = JSON.parse(await runOfReadme(/src\/tenants\S+ create --name \w+ --json/));
    const { ports } = podOf('management-api');
    const response = await fetch(`http://127.0.0.1:${ports.http}/tenants/self`, {
      headers: { 'SVC-API-KEY': management_key },
    });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ id: tenant_id })]);
  });

  test('the command of the README prints a link to the console for the first owner', async () => {
    expect(await runOfReadme(/src\/tenants\S+ owner --invite \S+/)).toMatch(
      /^https:\/\/console\.example\.net\/\S+#\S+\n$/,
    );
  });
});

describe('the manifests', () => {
  let product: Product;

  beforeAll(async () => {
    const { ports } = podOf('proxy-gateway');
    const text = await (await fetch(`http://127.0.0.1:${ports.admin}/metrics`)).text();
    const names = new Set(Array.from(text.matchAll(/^# TYPE (\w+) gauge$/gm), ([, name = '']) => name));
    product = { schemas, images, metrics: { 'proxy-gateway': names } };
  });

  test('are what Kubernetes’ schemas say', () => {
    expect(schemaFaults(scene.current.manifests)).toEqual([]);
  });

  test('have no fault', () => {
    expect(manifestFaults(scene.current.manifests, product)).toEqual([]);
  });

  test('where people sign in by issuers have no fault either: management-api alone has a way out besides, by https', () => {
    const { manifests, withSignIn } = scene.current;
    expect([...manifestFaults(withSignIn, product), ...schemaFaults(withSignIn)]).toEqual([]);
    const policies = (all: Manifest[]) => ofKind(all, 'NetworkPolicy').map(nameOf);
    expect(policies(withSignIn).filter((name) => !policies(manifests).includes(name))).toEqual(['issuers']);
    const { podSelector, egress } = find(withSignIn, 'NetworkPolicy', 'issuers').spec ?? {};
    expect(podSelector?.matchLabels?.['app.kubernetes.io/name']).toBe('management-api');
    expect(egress?.flatMap(({ ports }) => ports)).toEqual([{ protocol: 'TCP', port: 443 }]);
  });

  test.each<[string, (all: Manifest[]) => void, string]>([
    [
      'without the way out',
      (all) => remove(all, 'NetworkPolicy', 'issuers'),
      'management-api: cannot reach 8.8.8.8, as any destination or issuer',
    ],
    [
      'without the issuers',
      (all) => removeVariable(all, 'management-api', 'OIDC_ISSUERS_FILE'),
      'management-api: may reach 8.8.8.8, and so the world',
    ],
    [
      'with a way out for more',
      (all) => Object.assign(find(all, 'NetworkPolicy', 'issuers').spec ?? {}, { podSelector: label('token-vault') }),
      'token-vault: may reach 8.8.8.8, and so the world',
    ],
    [
      'with a way to addresses inside',
      (all) => {
        const block = find(all, 'NetworkPolicy', 'issuers').spec?.egress?.[0]?.to?.[0]?.ipBlock;
        if (block?.except) block.except = block.except.filter((range) => range !== '10.0.0.0/8');
      },
      'management-api: may reach 10.1.2.3',
    ],
  ])('and %s it is found', (_, change, fault) => {
    const manifests = structuredClone(scene.current.withSignIn);
    change(manifests);
    expect(manifestFaults(manifests, product)).toContain(fault);
  });

  test('have every service and the migration, in one namespace', () => {
    const { manifests } = scene.current;
    expect(
      workloadsOf(manifests)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(schemas).sort());
    const elsewhere = manifests.filter(
      ({ kind, metadata }) => kind !== 'Namespace' && metadata?.namespace !== 'sluice',
    );
    expect(elsewhere.map(nameOf)).toEqual([]);
  });

  test('hold no Secret, give the worker no key of the vault, and the key of the ledger to it alone', () => {
    const { manifests } = scene.current;
    expect(manifests.filter(({ kind }) => !kinds.includes(kind))).toEqual([]);
    const readersOf = (wanted: string) =>
      workloadsOf(manifests)
        .filter(({ pod }) => pod.volumes?.some(({ secret }) => secret?.items?.some(({ key }) => key === wanted)))
        .map(({ name }) => name);
    expect(readersOf('root-key')).toEqual(['management-api', 'proxy-gateway', 'token-vault']);
    expect(readersOf('ledger-key')).toEqual(['worker']);
  });

  test('have their ingress time for the slowest answer', () => {
    const [ingress] = ofKind(scene.current.manifests, 'Ingress');
    const seconds = Number(ingress?.metadata?.annotations?.['nginx.ingress.kubernetes.io/proxy-read-timeout']);
    const { CLIENT_IDLE_TIMEOUT_MS: idle, TRANSFORM_WALL_MS: wall } = proxyGateway.properties;
    const longestHeadMs = 600_000; // that a Proxy may allow
    expect(seconds * 1000).toBeGreaterThanOrEqual(longestHeadMs + idle.default + 2 * wall.default);
  });

  test('have their ingress room for the headers of the largest answer', () => {
    const [ingress] = ofKind(scene.current.manifests, 'Ingress');
    const size = ingress?.metadata?.annotations?.['nginx.ingress.kubernetes.io/proxy-buffer-size'] ?? '';
    const ownBytes = 16 * 1024; // the status line and our own headers
    const [, kibibytes] = /^(\d+)k$/.exec(size) ?? [];
    expect(Number(kibibytes) * 1024).toBeGreaterThanOrEqual(
      proxyGateway.properties.DESTINATION_HEADER_BYTES.default + ownBytes,
    );
  });

  test('scale by the metric that the rule of prometheus-adapter makes', async () => {
    const values = parse(await readFile(join(folder, 'prometheus-adapter/values.yaml'), 'utf8'));
    const metrics = ofKind(scene.current.manifests, 'HorizontalPodAutoscaler').flatMap(({ spec }) =>
      (spec?.metrics ?? []).flatMap(({ pods }) => pods?.metric.name ?? []),
    );
    const made = values.rules.custom.map(({ seriesQuery }: { seriesQuery: string }) => seriesQuery.split('{')[0]);
    expect(metrics).toEqual(made);
  });

  test('are scraped once, under the names that alerts and dashboards go by', async () => {
    const { manifests } = scene.current;
    const [job] = parse(await readFile(join(folder, 'prometheus/scrape.yaml'), 'utf8'));
    const expected = [...services, 'ingress'].map((name) => ({ job: name, namespace: 'sluice', pod: `${name}-0` }));
    expect(scrapeTargets(manifests, job)).toEqual(expect.arrayContaining(expected));
    expect(scrapeTargets(manifests, job)).toHaveLength(expected.length);
    const annotations = workloadsOf(manifests).flatMap(({ template }) =>
      Object.keys(template.metadata?.annotations ?? {}),
    );
    expect(annotations.filter((name) => name.startsWith('prometheus.io/'))).toEqual([]);
  });

  describe('a fault is found:', () => {
    const changes: Record<string, [change: (manifests: Manifest[]) => void, fault: string]> = {
      'a variable that is not a setting': [
        (all) => setVariable(all, 'worker', 'SWEEP_INTERVAL', '1000'),
        'worker: SWEEP_INTERVAL is not a setting',
      ],
      'a required setting that is not given': [
        (all) => removeVariable(all, 'token-vault', 'KEY_PEPPER_FILE'),
        'token-vault: KEY_PEPPER is missing',
      ],
      'a setting that another one requires': [
        (all) => removeVariable(all, 'token-vault', 'ROOT_KEY_FILE'),
        'token-vault: ROOT_KEY is missing',
      ],
      'a secret in the open': [
        (all) => setVariable(all, 'worker', 'REDIS_URL', 'redis://:password@redis'),
        'worker: REDIS_URL is a secret, give REDIS_URL_FILE',
      ],
      'a secret as a variable': [
        (all) => {
          containerOf(all, 'worker').env?.push({
            name: 'DATABASE_URL',
            valueFrom: { secretKeyRef: { name: 'sluice-stores', key: 'database-url' } },
          });
        },
        'worker: DATABASE_URL is not given as a value; secrets are files',
      ],
      'a file that is not mounted': [
        (all) => setVariable(all, 'worker', 'DATABASE_URL_FILE', '/run/sluice/keys/root-key'),
        'worker: DATABASE_URL_FILE is in no Secret',
      ],
      'a secret that is not needed': [
        (all) => {
          const secret = workload(all, 'worker').pod.volumes?.[0]?.secret;
          secret?.items?.push({ key: 'root-key', path: 'root-key' });
        },
        'worker: /run/sluice/stores/root-key is a secret that no setting names',
      ],
      'a secret that everybody in the pod reads': [
        (all) => Object.assign(workload(all, 'worker').pod.volumes?.[0]?.secret ?? {}, { defaultMode: 0o444 }),
        'worker: stores is a Secret that is not for the group alone to read',
      ],
      'a secret to write to': [
        (all) => delete containerOf(all, 'worker').volumeMounts?.[0]?.readOnly,
        'worker: stores is a Secret that is not for the group alone to read',
      ],
      'a whole Secret': [
        (all) => {
          const secret = workload(all, 'worker').pod.volumes?.[0]?.secret;
          delete secret?.items;
        },
        'worker: stores is a whole Secret, say which keys of it',
      ],
      'a spool that ends with the container': [
        (all) => setVariable(all, 'token-vault', 'DISCLOSURE_SPOOL_DIRECTORY', '/run/sluice/other'),
        'token-vault: DISCLOSURE_SPOOL_DIRECTORY is in no volume that outlives the container',
      ],
      'an image of somebody else': [
        (all) => Object.assign(containerOf(all, 'worker'), { image: 'example/other:1' }),
        'worker: example/other:1 is no image of ours',
      ],
      'an image without a version': [
        (all) => Object.assign(containerOf(all, 'worker'), { image: 'registry.example.com:5000/sluice/worker' }),
        'worker: registry.example.com:5000/sluice/worker names no version',
      ],
      'a command that does not exist': [
        (all) => Object.assign(containerOf(all, 'migrate'), { command: ['node', 'src/migrate.ts'] }),
        'migrate: src/migrate.ts is not in infra/docker',
      ],
      root: [
        (all) => Object.assign(workload(all, 'worker').pod.securityContext ?? {}, { runAsNonRoot: false }),
        'worker: may run as root',
      ],
      'no seccomp profile': [
        (all) => Object.assign(workload(all, 'worker').pod, { securityContext: {} }),
        'worker: has no seccomp profile',
      ],
      'privileges to gain': [
        (all) => Object.assign(containerOf(all, 'migrate').securityContext ?? {}, { allowPrivilegeEscalation: true }),
        'migrate: may gain privileges',
      ],
      'a root file system to write to': [
        (all) => delete containerOf(all, 'token-vault').securityContext?.readOnlyRootFilesystem,
        'token-vault: writes to its root file system',
      ],
      capabilities: [
        (all) => Object.assign(containerOf(all, 'worker').securityContext?.capabilities ?? {}, { add: ['NET_ADMIN'] }),
        'worker: keeps capabilities',
      ],
      'a token of the cluster': [
        (all) => delete workload(all, 'worker').pod.automountServiceAccountToken,
        'worker: gets a token of the cluster',
      ],
      'variables of Services': [
        (all) => delete workload(all, 'worker').pod.enableServiceLinks,
        'worker: is told of Services by variables',
      ],
      'the network of the node': [
        (all) => Object.assign(workload(all, 'worker').pod, { hostNetwork: true }),
        'worker: shares a namespace of the node',
      ],
      'a folder of the node': [
        (all) => workload(all, 'worker').pod.volumes?.push({ name: 'node', hostPath: { path: '/' } }),
        'worker: mounts a folder of the node',
      ],
      'a port of the node': [
        (all) => Object.assign(containerOf(all, 'worker').ports?.[0] ?? {}, { hostPort: 9080 }),
        'worker: opens a port of the node',
      ],
      'no request': [(all) => delete containerOf(all, 'worker').resources?.requests?.cpu, 'worker: requests no cpu'],
      'no limit of memory': [
        (all) => delete containerOf(all, 'worker').resources?.limits,
        'worker: has no limit of memory',
      ],
      'a throttled gateway': [
        (all) => Object.assign(containerOf(all, 'proxy-gateway').resources?.limits ?? {}, { cpu: '1' }),
        'proxy-gateway: is throttled by a limit of CPU',
      ],
      'a probe of the wrong port': [
        (all) => Object.assign(containerOf(all, 'token-vault').readinessProbe?.httpGet ?? {}, { port: 'http' }),
        'token-vault: readinessProbe does not ask /readyz at the admin port',
      ],
      'a probe of the wrong path': [
        (all) => Object.assign(containerOf(all, 'token-vault').livenessProbe?.httpGet ?? {}, { path: '/readyz' }),
        'token-vault: livenessProbe does not ask /livez at the admin port',
      ],
      'a readiness probe that gives up before the check': [
        (all) => Object.assign(containerOf(all, 'token-vault').readinessProbe ?? {}, { timeoutSeconds: 2 }),
        'token-vault: readinessProbe gives up 0 ms after the check does',
      ],
      'no startup probe': [
        (all) => delete containerOf(all, 'worker').startupProbe,
        'worker: startupProbe does not ask /livez at the admin port',
      ],
      'another admin port': [
        (all) => setVariable(all, 'worker', 'ADMIN_PORT', '9084'),
        'worker: ADMIN_PORT is not the admin port',
      ],
      'an admin port that listens to itself': [
        (all) => removeVariable(all, 'worker', 'ADMIN_HOST'),
        'worker: ADMIN_HOST keeps probes out',
      ],
      'another port': [
        (all) => setVariable(all, 'token-vault', 'PORT', '8080'),
        'token-vault: PORT is not the http port',
      ],
      'a stop that is cut off': [
        (all) => Object.assign(workload(all, 'proxy-gateway').pod, { terminationGracePeriodSeconds: 39 }),
        'proxy-gateway: is killed after 39000 ms, though a stop may take 40000',
      ],
      'a stop that takes its defaults': [
        (all) => {
          removeVariable(all, 'token-vault', 'SHUTDOWN_DRAIN_MS');
          removeVariable(all, 'token-vault', 'SHUTDOWN_TIMEOUT_MS');
          workload(all, 'token-vault').pod.terminationGracePeriodSeconds = 12;
        },
        'token-vault: is killed after 12000 ms, though a stop may take 13000',
      ],
      'pods on one node': [
        (all) => workload(all, 'worker').pod.topologySpreadConstraints?.pop(),
        'worker: is not spread by kubernetes.io/hostname',
      ],
      'pods of others that are spread': [
        (all) => {
          for (const constraint of workload(all, 'worker').pod.topologySpreadConstraints ?? []) {
            constraint.labelSelector = { matchLabels: { 'app.kubernetes.io/name': 'workers' } };
          }
        },
        'worker: is not spread by topology.kubernetes.io/zone',
      ],
      'a ServiceAccount that is not there': [
        (all) => Object.assign(workload(all, 'worker').pod, { serviceAccountName: 'workers' }),
        'worker: its ServiceAccount is missing, or has a token',
      ],
      'a Deployment that finds no pod': [
        (all) => setLabel(all, 'worker', 'workers'),
        'worker: does not select its own pods',
      ],
      'a Deployment without a budget': [
        (all) => remove(all, 'PodDisruptionBudget', 'worker'),
        'worker: has no PodDisruptionBudget',
      ],
      'a budget for nobody': [
        (all) => Object.assign(find(all, 'PodDisruptionBudget', 'worker').spec ?? {}, { selector: label('workers') }),
        'PodDisruptionBudget/worker: selects 0 workloads',
      ],
      'a Service for nobody': [
        (all) => Object.assign(find(all, 'Service', 'token-vault').spec ?? {}, { selector: { app: 'vault' } }),
        'Service/token-vault: selects 0 workloads',
      ],
      'a Service for everybody': [
        (all) => {
          const selector = { 'app.kubernetes.io/part-of': 'sluice' };
          Object.assign(find(all, 'Service', 'token-vault').spec ?? {}, { selector });
        },
        'Service/token-vault: selects 6 workloads',
      ],
      'a port that no container has': [
        (all) => Object.assign(find(all, 'Service', 'token-vault').spec?.ports?.[0] ?? {}, { targetPort: 'https' }),
        'Service/token-vault: token-vault has no port https',
      ],
      'a scaler of nothing': [
        (all) => remove(all, 'Deployment', 'proxy-gateway'),
        'HorizontalPodAutoscaler/proxy-gateway: there is no Deployment proxy-gateway',
      ],
      'a metric that nobody exports': [
        (all) => {
          const metrics = find(all, 'HorizontalPodAutoscaler', 'proxy-gateway').spec?.metrics ?? [];
          Object.assign(metrics[0]?.pods?.metric ?? {}, { name: 'sluice_requests_in_flight' });
        },
        'HorizontalPodAutoscaler/proxy-gateway: proxy-gateway exports no sluice_requests_in_flight',
      ],
      'a scaler without a metric': [
        (all) => Object.assign(find(all, 'HorizontalPodAutoscaler', 'token-vault').spec ?? {}, { metrics: [] }),
        'HorizontalPodAutoscaler/token-vault: scales by nothing',
      ],
      'a scaler that drops pods at once': [
        (all) => delete find(all, 'HorizontalPodAutoscaler', 'token-vault').spec?.behavior,
        'HorizontalPodAutoscaler/token-vault: scales down at once',
      ],
      'a number beside a scaler': [
        (all) => Object.assign(find(all, 'Deployment', 'token-vault').spec ?? {}, { replicas: 2 }),
        'HorizontalPodAutoscaler/token-vault: each apply sets token-vault back to 2 replicas',
      ],
      'a host that leads nowhere': [
        (all) => find(all, 'Ingress', 'sluice').spec?.rules?.pop(),
        'Ingress: lacks *.routes.example.com',
      ],
      'a host that is none of ours': [
        (all) => Object.assign(find(all, 'Ingress', 'sluice').spec?.rules?.[1] ?? {}, { host: 'example.net' }),
        'Ingress: has example.net',
      ],
      'requests for any host': [
        (all) => delete find(all, 'Ingress', 'sluice').spec?.rules?.[0]?.host,
        'Ingress: has any host',
      ],
      'a host without a certificate': [
        (all) => find(all, 'Ingress', 'sluice').spec?.tls?.shift(),
        'Ingress: sluice.example.com has no certificate',
      ],
      'a way around the table of our ingress': [
        (all) => {
          const [path] = find(all, 'Ingress', 'sluice').spec?.rules?.[1]?.http?.paths ?? [];
          Object.assign(path?.backend.service ?? {}, { name: 'proxy-gateway' });
        },
        'Ingress: console.example.net has Prefix / to proxy-gateway',
      ],
      'a service that is reached around it': [
        (all) => {
          const from = find(all, 'NetworkPolicy', 'ingress').spec?.ingress?.[0]?.from ?? [];
          Object.assign(find(all, 'NetworkPolicy', 'requests').spec?.ingress?.[0] ?? {}, { from });
        },
        'proxy-gateway: is reached around the ingress',
      ],
      'a service that knows another console': [
        (all) => setVariable(all, 'proxy-gateway', 'CONSOLE_HOST', 'other.example.net'),
        'CONSOLE_HOST is not the same in every service',
      ],
      'a service that knows no fields': [
        (all) => removeVariable(all, 'token-vault', 'FIELDS_HOST'),
        'FIELDS_HOST is not the same in every service',
      ],
      'a base host of its own': [
        (all) => setVariable(all, 'worker', 'BASE_URL', 'https://other.example.com'),
        'BASE_URL is not the same in every service',
      ],
      'a route to a port that is not there': [
        (all) => Object.assign(find(all, 'Service', 'ingress').spec?.ports?.[0] ?? {}, { name: 'web' }),
        'Ingress: the Service ingress has no port http',
      ],
      'a policy for nobody': [
        (all) =>
          Object.assign(find(all, 'NetworkPolicy', 'destinations').spec ?? {}, { podSelector: label('gateway') }),
        'NetworkPolicy/destinations: selects nothing',
      ],
      'a gateway that may call nobody': [
        (all) => remove(all, 'NetworkPolicy', 'destinations'),
        'proxy-gateway: cannot reach 8.8.8.8, as any destination or issuer',
      ],
      'a worker that may call the world': [
        (all) => Object.assign(find(all, 'NetworkPolicy', 'destinations').spec ?? {}, { podSelector: {} }),
        'worker: may reach 8.8.8.8, and so the world',
      ],
      'a gateway that may ask for metadata': [
        (all) => {
          const block = find(all, 'NetworkPolicy', 'destinations').spec?.egress?.[0]?.to?.[0]?.ipBlock;
          if (block?.except) block.except = block.except.filter((range) => range !== '169.254.0.0/16');
        },
        'proxy-gateway: may reach 169.254.169.254',
      ],
      'a gateway that may call private addresses': [
        (all) => {
          const block = find(all, 'NetworkPolicy', 'destinations').spec?.egress?.[0]?.to?.[1]?.ipBlock;
          Object.assign(block ?? {}, { cidr: '::/0' });
        },
        'proxy-gateway: may reach fd00::1',
      ],
      'pods that no policy is for': [
        (all) => {
          for (const policy of ofKind(all, 'NetworkPolicy')) remove(all, 'NetworkPolicy', nameOf(policy));
        },
        'migrate: no NetworkPolicy restricts its Ingress',
      ],
      'a way in for anybody': [
        (all) => delete find(all, 'NetworkPolicy', 'metrics').spec?.ingress?.[0]?.from,
        'worker: anybody may reach it',
      ],
      'a way in from every namespace': [
        (all) => {
          const peer = find(all, 'NetworkPolicy', 'metrics').spec?.ingress?.[0]?.from?.[0];
          Object.assign(peer ?? {}, { namespaceSelector: {} });
        },
        'worker: anybody may reach it',
      ],
      'a way in from every address': [
        (all) =>
          find(all, 'NetworkPolicy', 'requests').spec?.ingress?.[0]?.from?.push({ ipBlock: { cidr: '0.0.0.0/0' } }),
        'token-vault: anybody may reach it',
      ],
      'a way out to every pod': [
        (all) => find(all, 'NetworkPolicy', 'redis').spec?.egress?.[0]?.to?.push({ podSelector: {} }),
        'worker: it may reach anybody',
      ],
      'a way out to anybody': [
        (all) => delete find(all, 'NetworkPolicy', 'redis').spec?.egress?.[0]?.to,
        'worker: it may reach anybody',
      ],
      'a port that nobody reaches': [
        (all) => remove(all, 'NetworkPolicy', 'metrics'),
        'worker: its port admin is reached by nobody',
      ],
      'a port that is opened and not there': [
        (all) => Object.assign(find(all, 'NetworkPolicy', 'requests').spec ?? {}, { podSelector: label('worker') }),
        'worker: its port http is opened, and not there',
      ],
    };

    test.each(Object.keys(changes))('%s', (name) => {
      const [change, fault] = changes[name] ?? [];
      const manifests = structuredClone(scene.current.manifests);
      change?.(manifests);
      expect(manifestFaults(manifests, product)).toContain(fault);
    });

    test.each<[string, (all: Manifest[]) => void, string]>([
      [
        'a field that nobody knows',
        (all) => Object.assign(containerOf(all, 'worker'), { readynessProbe: {} }),
        'Deployment/worker: /spec/template/spec/containers/0/readynessProbe is unknown',
      ],
      [
        'a value of another type',
        (all) => Object.assign(find(all, 'Deployment', 'worker').spec ?? {}, { replicas: 'two' }),
        'Deployment/worker: ',
      ],
      [
        'a field that is required',
        (all) => Reflect.deleteProperty(find(all, 'Deployment', 'worker').spec ?? {}, 'selector'),
        'Deployment/worker: ',
      ],
      [
        'a version that is no more',
        (all) => Object.assign(find(all, 'Deployment', 'worker'), { apiVersion: 'apps/v3' }),
        'Deployment/worker: there is no Deployment in apps/v3',
      ],
      [
        'a kind of another group',
        (all) => Object.assign(find(all, 'Deployment', 'worker'), { apiVersion: 'batch/v1' }),
        'Deployment/worker: there is no Deployment in batch/v1',
      ],
    ])('by the schemas, %s', (_, change, fault) => {
      const manifests = structuredClone(scene.current.manifests);
      change(manifests);
      expect(schemaFaults(manifests)).toEqual([expect.stringContaining(fault)]);
    });
  });
});

const kinds: string[] = [
  ...['Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'Job', 'Namespace', 'NetworkPolicy'],
  ...['PodDisruptionBudget', 'Service', 'ServiceAccount'],
];

const label = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });

function find<K extends Kind>(manifests: Manifest[], kind: K, name: string): OfKind<K> {
  const found = ofKind(manifests, kind).find((manifest) => nameOf(manifest) === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

function remove(manifests: Manifest[], kind: Kind, name: string): void {
  manifests.splice(manifests.indexOf(find(manifests, kind, name)), 1);
}

function workload(manifests: Manifest[], name: string): Workload {
  const found = workloadsOf(manifests).find((one) => one.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
}

const containerOf = (manifests: Manifest[], name: string) => workload(manifests, name).container;

function setLabel(manifests: Manifest[], name: string, value: string): void {
  Object.assign(workload(manifests, name).labels, { 'app.kubernetes.io/name': value });
}

function removeVariable(manifests: Manifest[], name: string, variable: string): void {
  const container = containerOf(manifests, name);
  container.env = (container.env ?? []).filter((one) => one.name !== variable);
}

function setVariable(manifests: Manifest[], name: string, variable: string, value: string): void {
  removeVariable(manifests, name, variable);
  containerOf(manifests, name).env?.push({ name: variable, value });
}

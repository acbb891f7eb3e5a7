import { composeFaults } from './rehearsal/compose-faults.ts';
import { type ComposeFile, readComposeFile } from './rehearsal/compose-file.ts';
import { schemas } from './rehearsal/schemas.ts';

const read = () => readComposeFile('infra/docker/sign-in.yml');

test('docker-compose.yml with sign-in.yml has no fault, and management-api has a way out, which it shares with nobody', async () => {
  const [compose, plain] = [await read(), await readComposeFile()];
  expect(composeFaults(compose, schemas)).toEqual([]);
  const { networks = [], secrets } = compose.services['management-api'] ?? {};
  const { networks: before = [] } = plain.services['management-api'] ?? {};
  expect([networks.filter((name) => !before.includes(name)), secrets]).toEqual([['issuers'], ['oidc-issuers']]);
  expect(Object.keys(compose.services)).toEqual(Object.keys(plain.services));
});

test.each<[string, (compose: ComposeFile) => void, string]>([
  [
    'the issuers without the way out',
    ({ networks }) => Object.assign(networks, { issuers: { internal: true } }),
    'management-api: has no way out to destinations or issuers',
  ],
  [
    'the way out without the issuers',
    ({ services }) => delete services['management-api']?.environment?.OIDC_ISSUERS_FILE,
    'management-api: has a way out through issuers',
  ],
  [
    'a way out that others have too',
    ({ services }) => services.worker?.networks?.push('issuers'),
    'management-api: shares issuers with worker',
  ],
  [
    'a secret that is not mounted',
    ({ services }) => Object.assign(services['management-api'] ?? {}, { secrets: [] }),
    'management-api: OIDC_ISSUERS_FILE is in no volume',
  ],
  [
    'a secret that is not declared',
    (compose) => Object.assign(compose, { secrets: {} }),
    'management-api: oidc-issuers is not declared',
  ],
])('a fault is found: %s', async (_, change, fault) => {
  const compose = await read();
  change(compose);
  expect(composeFaults(compose, schemas)).toContain(fault);
});

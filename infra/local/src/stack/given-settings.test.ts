import { readFile } from 'node:fs/promises';
import { slow } from '@sluice/testing';
import { readGivenSettings } from './given-settings.ts';
import { serviceEnvironment, services, settingsOfLauncher } from './services.ts';

const own = ['PORT', 'REDIS_URL', 'SLUICE_DIR', 'NO_COLOR'];
const namesFile = new URL('../../../configuration/settings.json', import.meta.url);
const takers: Record<string, string[]> = JSON.parse(await readFile(namesFile, 'utf8'));
const address = { port: 1, adminPort: 2 };
const stack = {
  databaseUrl: 'd',
  redisUrl: 'r',
  secrets: { KEY_PEPPER: 'p', ROOT_KEY: 'k' },
  ledgerKey: { file: 'f', publicKey: 'k' },
  addresses: {
    'management-api': address,
    'token-vault': address,
    'proxy-gateway': address,
    worker: address,
    ingress: address,
  },
  spoolDirectory: 's',
  environment: {},
};

slow('0.9 s')(
  'every setting of the reference reaches the services that take it and no other, or is refused by its name',
  async () => {
    const ofLauncher = settingsOfLauncher();
    let passed = 0;
    for (const [name, expected] of Object.entries(takers).filter(([known]) => !own.includes(known))) {
      const read = readGivenSettings({ [name]: '/given', PATH: '/bin' }, own);
      if (ofLauncher.has(name.replace(/_FILE$/, ''))) {
        await expect(read).rejects.toThrow(`npm start sets ${name} itself`);
        continue;
      }
      const { ofServices: settingsOf, hints } = await read;
      const reached = services.filter(
        (service) => serviceEnvironment(service, { ...stack, settingsOf })[name] === '/given',
      );
      expect([name, reached.map((service) => service.name).sort(), hints]).toEqual([name, expected.toSorted(), []]);
      passed += 1;
    }
    expect(passed).toBeGreaterThan(80);
  },
);

test('several that the launcher sets are refused at once, an empty one is absent', async () => {
  const given = { DATABASE_URL: 'x', KEY_PEPPER: 'y', ROOT_KEY: '' };
  await expect(readGivenSettings(given, own)).rejects.toThrow(
    'npm start sets DATABASE_URL, KEY_PEPPER itself and cannot take another value; start without: env -u DATABASE_URL -u KEY_PEPPER npm start',
  );
});

test.each([
  ['LOG_LEVL', 'LOG_LEVEL'],
  ['HEADER_PERFIX', 'HEADER_PREFIX'],
  ['SLUICE_DIRR', 'SLUICE_DIR'],
  ['PROT', undefined],
  ['HOME', undefined],
  ['DISPLAY', undefined],
  ['npm_config_cache', undefined],
])('%s is named beside %s', async (name, meant) => {
  const { hints } = await readGivenSettings({ [name]: 'x' }, own);
  expect(hints).toEqual(meant === undefined ? [] : [`There is no setting ${name}; did you mean ${meant}?`]);
});

test('a path is of the folder in which it was typed', async () => {
  const { ofServices } = await readGivenSettings({ DESTINATION_CA_FILE: 'ca.pem' }, own);
  expect(ofServices['proxy-gateway']).toEqual({ DESTINATION_CA_FILE: `${process.cwd()}/ca.pem` });
});

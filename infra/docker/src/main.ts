import { readConfig } from '@sluice/service-runtime';
import { setupSchema } from './config.ts';
import { ensureCredentials, readCredentials } from './credentials.ts';

const show = 'docker compose run --rm --no-deps -T setup show';

const { BASE_URL, CREDENTIALS_DIR } = readConfig(setupSchema, process.env);

if (process.argv[2] === 'show') {
  const text = await readCredentials(CREDENTIALS_DIR);
  if (text) process.stdout.write(text);
  else {
    console.error('There are no credentials yet: run docker compose up');
    process.exitCode = 1;
  }
} else {
  await ensureCredentials({ directory: CREDENTIALS_DIR, baseUrl: BASE_URL, env: process.env });
  console.log(`Base URL, once all services are healthy: ${BASE_URL}\nCredentials of the first Tenant: ${show}`);
}

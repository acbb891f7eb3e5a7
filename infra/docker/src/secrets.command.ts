import { readConfig } from '@sluice/service-runtime';
import { secretsSchema } from './config.ts';
import { writeSecrets } from './secrets.ts';

await writeSecrets(readConfig(secretsSchema, process.env).SECRETS_DIR);
console.log('The secrets are in their volumes');

import { runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

await runService({ name: 'token-vault', summary: 'the token resource over HTTP', configSchema, start }, process);

import { runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

await runService({ name: 'proxy-gateway', summary: 'the data plane', configSchema, start }, process);

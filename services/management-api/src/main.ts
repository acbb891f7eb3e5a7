import { runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

await runService({ name: 'management-api', summary: 'the control plane', configSchema, start }, process);

import { runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

await runService({ name: 'worker', summary: 'what time drives', configSchema, start }, process);

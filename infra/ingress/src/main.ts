import { runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

await runService(
  { name: 'ingress', summary: 'one base URL for all services: a streaming reverse proxy', configSchema, start },
  process,
);

import { requireNode } from '@sluice/service-runtime/require-node';

requireNode(process);
const { runService } = await import('@sluice/service-runtime');
const { configSchema } = await import('./config.ts');
const { start } = await import('./service.ts');
const summary = 'one base URL for all services: a streaming reverse proxy';
await runService({ name: 'ingress', summary, configSchema, start }, process);

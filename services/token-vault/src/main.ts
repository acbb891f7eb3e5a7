import { requireNode } from '@sluice/service-runtime/require-node';

requireNode(process);
const { runService } = await import('@sluice/service-runtime');
const { openTracing } = await import('@sluice/tracing');
const { configSchema } = await import('./config.ts');
const { start } = await import('./service.ts');
await runService(
  { name: 'token-vault', summary: 'the token resource over HTTP', configSchema, start, openTracing },
  process,
);

import { constants } from 'node:os';
import { requireNode } from '@sluice/service-runtime/require-node';

requireNode(process);
const { lowerLibuvThreads, runService } = await import('@sluice/service-runtime');
const { openTracing } = await import('@sluice/tracing');
const { configSchema } = await import('./config.ts');
const { start } = await import('./service.ts');
// These threads decompress bodies, and a few kilobytes of one Tenant can decode to megabytes.
await lowerLibuvThreads(constants.priority.PRIORITY_BELOW_NORMAL);
await runService({ name: 'proxy-gateway', summary: 'the data plane', configSchema, start, openTracing }, process);

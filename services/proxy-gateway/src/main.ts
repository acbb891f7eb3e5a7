import { constants } from 'node:os';
import { lowerLibuvThreads, runService } from '@sluice/service-runtime';
import { configSchema } from './config.ts';
import { start } from './service.ts';

// These threads decompress bodies, and a few kilobytes of one Tenant can decode to megabytes.
await lowerLibuvThreads(constants.priority.PRIORITY_BELOW_NORMAL);
await runService({ name: 'proxy-gateway', summary: 'the data plane', configSchema, start }, process);

// Calls the URL in its first argument with the gateway's transports and with `fetch`, and prints the answers.
import { destinationPolicy } from '@sluice/destination-policy';
import { forward, openDestinations, streamThrough } from '../destination/index.ts';
import { outcomeOf } from './destination-servers.ts';

const origin = process.argv[2] ?? '';
const destinations = openDestinations({
  policy: destinationPolicy({ schemes: ['http'], allow: ['loopback'], deny: [] }),
  headerPrefix: 'SVC',
  headTimeoutMs: 2000,
  connectTimeoutMs: 2000,
  keepAliveTimeoutMs: 1000,
  maxConnectionsPerOrigin: 1,
});
const request = { tenantId: 't', origin, path: '/', method: 'GET', headers: [], body: undefined };
const held = await outcomeOf((sink) => forward(request, destinations, sink));
const streamed = await outcomeOf((sink) => streamThrough(request, destinations, sink));
const fetched = await fetch(origin).then((response) => response.text());
await destinations.close(0);
process.stdout.write(JSON.stringify({ held: held.body, streamed: streamed.body, fetched }));

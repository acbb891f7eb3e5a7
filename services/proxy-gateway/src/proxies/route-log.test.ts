import { randomUUID } from 'node:crypto';
import { eventually, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack));

let count = 0;

async function open(parts: Partial<ProxyParts> = {}) {
  const { tenant, destination } = gateway.current;
  destination.seen.length = 0;
  count += 1;
  const pathName = `shop-${count}`;
  const proxy = await tenant.proxy({ destination: destination.url, pathName, ...parts });
  const { id: agent, key } = await tenant.application();
  const call = async (path: string, headers: Record<string, string>, body?: string) => {
    const sent = { 'SVC-API-KEY': key, 'SVC-TRACE-ID': randomUUID(), 'Content-Type': 'application/json', ...headers };
    const { status } = await fetch(`${gateway.current.url}${path}`, {
      method: 'POST',
      headers: sent,
      ...(body !== undefined && { body }),
    });
    return { status, traceId: sent['SVC-TRACE-ID'] };
  };
  const onRoute = (body?: string, headers = {}) => call(`/routes/${pathName}`, headers, body);
  const byKey = (body?: string) => call('/proxy', { 'SVC-PROXY-KEY': proxy.key }, body);
  return { pathName, proxy, agent, onRoute, byKey, destination };
}

async function rowsOf(traceId: string) {
  const { db } = gateway.current;
  return db
    .selectFrom('audit_log')
    .select(['actor_id', 'entity_type', 'entity_id', 'operation', 'detail'])
    .where('trace_id', '=', traceId)
    .execute();
}

async function written(traceId: string) {
  await eventually('the row', async () => (await rowsOf(traceId)).length > 0);
  return rowsOf(traceId);
}

test('a call of a route that reveals nothing has one row, with its name', async () => {
  const { pathName, proxy, agent, onRoute } = await open();
  const { traceId } = await onRoute('{"a":1}');
  expect(await written(traceId)).toEqual([
    {
      actor_id: agent,
      entity_type: 'proxy',
      entity_id: proxy.id,
      operation: 'use',
      detail: {
        token_ids: [],
        destination_host: expect.stringMatching(/^127/),
        application_id: agent,
        method: 'POST',
        places: [],
        path_name: pathName,
      },
    },
  ]);
});

test('a call that reveals has its row only, with the name of the route; by the key of the Proxy without', async () => {
  const { pathName, onRoute, byKey } = await open();
  const token = await gateway.current.tenant.token({ data: 'a' });
  const body = JSON.stringify({ a: `{{ ${token} }}` });
  const detail = { token_ids: [token], places: ['body'], path_name: pathName };
  expect(await written((await onRoute(body)).traceId)).toMatchObject([{ detail }]);
  const [row, ...more] = await written((await byKey(body)).traceId);
  expect([more, row?.detail]).toEqual([[], expect.not.objectContaining({ path_name: pathName })]);
});

test('tokens that code reads on a route have its name, and the call has a row', async () => {
  const { tenant } = gateway.current;
  const { id: applicationId } = await tenant.application({ permissions: ['token:use', 'token:read'] });
  const token = await tenant.token({ data: 'a' });
  const requestTransform = `module.exports = async ({ svc }) => { await svc.detokenize({ a: '{{ ${token} }}' }); return {}; };`;
  const { pathName, onRoute } = await open({ requestTransform, applicationId });
  const { traceId } = await onRoute('{}');
  await eventually('both rows', async () => (await rowsOf(traceId)).length === 2);
  const details = (await rowsOf(traceId)).map(({ detail }) => detail);
  expect(details).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ token_ids: [token], places: ['transform'], path_name: pathName }),
      expect.objectContaining({ token_ids: [], path_name: pathName }),
    ]),
  );
});

test('a call that does not go out has none, and none is written by the key of the Proxy', async () => {
  const { onRoute, byKey, destination } = await open();
  const refusing = await open({ allowedMethods: ['GET'] });
  const traceIds = [
    (await onRoute('{ "a": "{{ }}" }')).traceId,
    (await refusing.onRoute('{}')).traceId,
    (await byKey('{}')).traceId,
  ];
  expect(destination.seen).toHaveLength(1);
  const last = (await onRoute('{}')).traceId;
  await written(last); // rows are written in order
  for (const traceId of traceIds) expect(await rowsOf(traceId)).toEqual([]);
});

describe('with allowed_paths, an expression in the path', () => {
  const judged: Partial<ProxyParts> = { tokenPlaces: ['path'], allowedPaths: ['/v1/*'] };
  const statusOf = async (parts: Partial<ProxyParts>, data: string, segment: (token: string) => string) => {
    const { pathName, destination } = await open(parts);
    const { tenant, url } = gateway.current;
    const { key } = await tenant.application();
    const token = await tenant.token({ data });
    const path = `/v1/${encodeURIComponent(segment(token))}`;
    const { status } = await fetch(`${url}/routes/${pathName}${path}`, { headers: { 'SVC-API-KEY': key } });
    return [status, destination.seen[0]?.url];
  };
  const plain = (token: string) => `{{ ${token} }}`;

  test('is judged by its text', async () => {
    expect(await statusOf(judged, 'v2', plain)).toEqual([200, '/v1/v2']);
    expect(await statusOf({ ...judged, allowedPaths: ['/v1/v2'] }, 'v2', plain)).toEqual([403, undefined]);
  });

  test('has no filter', async () => {
    const filtered = (token: string) => `{{ ${token} | upcase }}`;
    expect(await statusOf(judged, 'v2', filtered)).toEqual([400, undefined]);
    expect(await statusOf({ tokenPlaces: ['path'] }, 'v2', filtered)).toEqual([200, '/v1/V2']); // control
  });

  test.each(['', ' ', '.', '..', ';a', 'a/../b'])('stands for no value %j', async (data) => {
    expect(await statusOf(judged, data, plain)).toEqual([400, undefined]);
  });

  test('stands for no empty value beside a text', async () => {
    expect(await statusOf(judged, '', (token) => `a{{ ${token} }}`)).toEqual([400, undefined]);
    expect(await statusOf(judged, '', (token) => `a{{ '' }}{{ ${token} }}`)).toEqual([400, undefined]);
  });
});

import type { IncomingMessage } from 'node:http';
import { eventually, slow, useStack } from '@sluice/testing';
import { beginExport, fillLog, finishExport as finish } from '../testing/exports.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack, { TENANT_MAX_STREAMS: '2' }));
const short = useStack((stack) => startTestManagement(stack, { STREAM_MAX_SECONDS: '1', TENANT_MAX_STREAMS: '1' }));

type Management = typeof api.current;

async function createScene({ db, anotherTenant }: Management) {
  const { management_key, tenant_id } = await anotherTenant('T');
  return { size: await fillLog(db, tenant_id), owner: { key: management_key }, tenant_id };
}

const scene = useStack(() => createScene(api.current));

const createAuditor = ({ owner }: { owner: { key: string } }, { application }: Management = api.current) =>
  application({ type: 'management', permissions: ['log:read'] }, owner);

/** What a failed test leaves open would take the places of the next one. */
const begun: IncomingMessage[] = [];
afterEach(() => {
  for (const response of begun.splice(0)) response.destroy();
});

async function begin({ key }: { key: string }, { url }: Management = api.current): Promise<IncomingMessage> {
  const response = await beginExport(`${url}/logs/export`, { 'SVC-API-KEY': key });
  begun.push(response);
  return response;
}

describe('an export ends, and not as if it were complete, when the right that began it does', () => {
  test.each<[string, (auditor: string) => [method: string, path: string, body?: object]]>([
    ['its Application is deleted', (auditor) => ['DELETE', auditor]],
    ['its key is replaced', (auditor) => ['POST', `${auditor}/regenerate`]],
    ['its permission is taken', (auditor) => ['PUT', auditor, { name: 'A', permissions: ['report:read'] }]],
  ])('%s', async (_name, change) => {
    const auditor = await createAuditor(scene.current);
    const response = await begin(auditor);
    const [method, path, body] = change(`/applications/${auditor.id}`);
    const { status } = await api.current.send(method, path, { ...scene.current.owner, ...(body && { body }) });
    expect([200, 204]).toContain(status);
    expect(await finish(response)).toBe('ECONNRESET');
  });

  test('one of its keys is deleted, and another of its keys is not', async () => {
    const { owner, size } = scene.current;
    const auditor = await createAuditor(scene.current);
    const path = `/applications/${auditor.id}/keys`;
    const second = (await api.current.send('POST', path, { ...owner, body: {} })).body;
    const [ends, stays] = [await begin(second), await begin(auditor)];
    expect((await api.current.send('DELETE', `${path}/${second.id}`, owner)).status).toBe(204);
    expect(await finish(ends)).toBe('ECONNRESET');
    expect(await finish(stays)).toBe(size);
  });

  test('but not when something else changes, which is a control: read slowly, it comes as a whole', async () => {
    const { owner, size } = scene.current;
    const auditor = await createAuditor(scene.current);
    const response = await begin(auditor);
    const renamed = { name: 'Renamed', permissions: ['log:read', 'report:read'] };
    expect((await api.current.send('PUT', `/applications/${auditor.id}`, { ...owner, body: renamed })).status).toBe(
      200,
    );
    const other = await api.current.application({}, owner);
    expect((await api.current.send('DELETE', `/applications/${other.id}`, owner)).status).toBe(204);
    expect(await finish(response)).toBe(size);
  });

  test('Postgres says that its key has expired, though nobody announced it', async () => {
    const auditor = await createAuditor(scene.current);
    const response = await begin(auditor);
    const { db } = api.current;
    const expires_at = new Date(0).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', auditor.id).execute();
    expect(await finish(response)).toBe('ECONNRESET');
  });
});

test('a Tenant has so many at a time and no more, other Tenants have theirs, and who goes makes room', async () => {
  const { size } = scene.current;
  const auditor = await createAuditor(scene.current);
  const open = [await begin(auditor), await begin(auditor)];
  const refused = await begin(auditor);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  refused.destroy();
  expect((await begin({ key: api.current.stranger.management_key })).statusCode).toBe(200);
  open[0]?.destroy();
  await eventually('a place', async () => {
    const next = await begin(auditor);
    next.destroy();
    return next.statusCode === 200;
  });
  expect(await finish(open[1] as IncomingMessage)).toBe(size);
});

test('it ends when its Tenant is closed', async () => {
  const response = await begin(await createAuditor(scene.current));
  expect((await api.current.send('DELETE', '/tenants/self', scene.current.owner)).status).toBe(204);
  expect(await finish(response)).toBe('ECONNRESET');
});

slow('1.4 s')('one that takes longer than it may is reset', async () => {
  const auditor = await createAuditor(await createScene(short.current), short.current);
  const response = await begin(auditor, short.current);
  await eventually('its place', async () => {
    const next = await begin(auditor, short.current);
    next.destroy();
    return next.statusCode === 200;
  });
  expect(await finish(response)).toBe('ECONNRESET');
});

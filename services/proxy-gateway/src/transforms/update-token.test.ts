import { call, useStack } from '@sluice/testing';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));

async function transform(permissions: string[], body: string, sent: unknown) {
  const { tenant, destination, url } = gateway.current;
  const { id: applicationId } = await tenant.application({ permissions });
  const requestTransform = `module.exports = async ({ args, svc }) => ({ body: ${body} });`;
  const proxy = await tenant.proxy({
    destination: destination.url,
    requireAuth: false,
    requestTransform,
    applicationId,
  });
  const answer = await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: sent });
  return { answer, received: JSON.parse(destination.seen.at(-1)?.body ?? 'null') };
}

test('svc.tokens.update patches a token with the permissions of the Application, and the next call sees it', async () => {
  const id = await gateway.current.tenant.token({ type: 'card', data: { number: '4242424242424242' } });
  const code = `[
    (await svc.tokens.update(args.body.id, { data: { expiration_year: 2031 }, metadata: { a: 'b' } })).metadata,
    await svc.detokenize('{{' + args.body.id + '}}') ]`;
  const { answer, received } = await transform(['token:read', 'token:update', 'token:use'], code, { id });
  expect(answer.status).toBe(200);
  expect(received).toEqual([{ a: 'b' }, { number: '4242424242424242', expiration_year: 2031 }]);
});

test('svc.tokens.update without token:update, and with a patch that breaks the type, throws', async () => {
  const id = await gateway.current.tenant.token({ type: 'card', data: { number: '4242424242424242' } });
  const code =
    'await svc.tokens.update(args.body.id, { data: { expiration_month: 13 } }).catch((error) => [error.status])';
  expect((await transform(['token:use'], code, { id })).received).toEqual([403]);
  expect((await transform(['token:update'], code, { id })).received).toEqual([400]);
});

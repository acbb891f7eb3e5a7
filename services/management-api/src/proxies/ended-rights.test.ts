import { ServiceError } from '@sluice/problems';
import { checkTransforms } from './proxy.definition.ts';

const definition = { name: 'P', destination_url: 'https://example.com', require_auth: true };

async function check(code: Partial<Record<'request_transform' | 'response_transform', { code: string }>>) {
  const steps: string[] = [];
  const compile = async (text: string) => {
    steps.push(`compiles ${text}`);
    return undefined;
  };
  const checkCallerAgain = async () => {
    steps.push('checks the caller');
    throw new ServiceError('unauthenticated', 'The key was deleted');
  };
  const caller = { tenantId: 't', checkCallerAgain };
  const refused = await checkTransforms({ ...definition, ...code }, caller, { transforms: { compile } }).then(
    () => false,
    (error: unknown) => error instanceof ServiceError && error.code === 'unauthenticated',
  );
  return { steps, refused };
}

test('a key that was deleted while code waited to be compiled is refused', async () => {
  const code = { request_transform: { code: '1' }, response_transform: { code: '2' } };
  expect(await check(code)).toEqual({ steps: ['compiles 1', 'compiles 2', 'checks the caller'], refused: true });
});

test('without code nothing is waited for, so the caller is not looked up again', async () => {
  expect(await check({})).toEqual({ steps: [], refused: false });
});

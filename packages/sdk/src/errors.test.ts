import { readFile } from 'node:fs/promises';
import {
  AuthenticationError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  type ProblemCode,
  RateLimitError,
  ServiceError,
  Sluice,
  SluiceError,
  UnprocessableError,
  ValidationError,
} from './index.ts';
import { startScripted } from './testing/scripted-server.ts';

const classes = {
  AuthenticationError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  SluiceError,
  UnprocessableError,
  ValidationError,
};

/** Each problem type of the service, with its class and status. */
const kinds: [code: ProblemCode, status: number, name: keyof typeof classes][] = [
  ['bad_request', 400, 'ValidationError'],
  ['validation_failed', 400, 'ValidationError'],
  ['invalid_proxy_request', 400, 'ValidationError'],
  ['unauthenticated', 401, 'AuthenticationError'],
  ['forbidden', 403, 'ForbiddenError'],
  ['not_found', 404, 'NotFoundError'],
  ['method_not_allowed', 405, 'SluiceError'],
  ['request_timeout', 408, 'SluiceError'],
  ['conflict', 409, 'ConflictError'],
  ['precondition_failed', 412, 'SluiceError'],
  ['payload_too_large', 413, 'SluiceError'],
  ['unsupported_media_type', 415, 'SluiceError'],
  ['expectation_failed', 417, 'SluiceError'],
  ['limit_reached', 422, 'UnprocessableError'],
  ['transform_does_not_compile', 422, 'UnprocessableError'],
  ['code_does_not_compile', 422, 'UnprocessableError'],
  ['too_many_requests', 429, 'RateLimitError'],
  ['headers_too_large', 431, 'SluiceError'],
  ['internal', 500, 'ServiceError'],
  ['transform_failed', 500, 'ServiceError'],
  ['reactor_failed', 500, 'ServiceError'],
  ['not_implemented', 501, 'ServiceError'],
  ['destination_answer_unusable', 502, 'ServiceError'],
  ['destination_unreachable', 502, 'ServiceError'],
  ['destination_failed', 502, 'ServiceError'],
  ['unavailable', 503, 'ServiceError'],
  ['destination_timeout', 504, 'ServiceError'],
  ['loop_detected', 508, 'ServiceError'],
];

/** What a call throws for this answer. */
async function failureOf(status: number, body?: object): Promise<unknown> {
  await using closing = new AsyncDisposableStack();
  const { sluice } = await startScripted(closing, [{ status, body }], { retries: 0 });
  return await sluice.proxies.get('1').catch((thrown: unknown) => thrown);
}

const problem = (code: string, status: number) => ({ type: `urn:sluice:problem:${code}`, title: 'No', status });

test.each(kinds)('the problem type %s (%i) is a %s', async (code, status, name) => {
  const error = await failureOf(status, problem(code, status));
  expect(error).toBeInstanceOf(classes[name]);
  expect(error).toMatchObject({ name, code, status });
});

test('help is the address of the code, and absent where the answer is not one of the service', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice, baseUrl } = await startScripted(stack, [{ status: 404, body: problem('not_found', 404) }]);
  await expect(sluice.proxies.get('1')).rejects.toMatchObject({ help: `${baseUrl}/docs/errors#not_found` });
  const console = new Sluice({ baseUrl, console: true });
  await expect(console.proxies.get('1')).rejects.toMatchObject({ help: `${baseUrl}/docs/errors#not_found` });
  expect(await failureOf(404, { type: 'https://other.example/#not_found' })).toMatchObject({ help: undefined });
  expect(await failureOf(404)).toMatchObject({ help: undefined });
});

test('there are no other problem types', async () => {
  const generated = await readFile(new URL('generated/problems.gen.ts', import.meta.url), 'utf8');
  const codes = [...generated.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  expect(codes).toEqual(kinds.map(([code]) => code));
});

test('the type decides where a status of another kind comes with it', async () => {
  expect(await failureOf(500, problem('conflict', 500))).toBeInstanceOf(ConflictError);
});

test.each([
  [400, 'ValidationError'],
  [401, 'AuthenticationError'],
  [403, 'ForbiddenError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [422, 'UnprocessableError'],
  [429, 'RateLimitError'],
  [418, 'SluiceError'],
  [502, 'ServiceError'],
])('without a type that is known, status %i is a %s', async (status, name) => {
  for (const body of [undefined, problem('of_tomorrow', status), problem('__proto__', status), { type: 7 }])
    expect(await failureOf(status, body)).toMatchObject({ name, status });
});

test.each<[string, unknown, string]>([
  ['a list of texts', { errors: ['permission denied'] }, 'The service answered 403'],
  ['objects', { title: 'Denied', errors: [{ message: 'x' }] }, 'Denied'],
  ['a member of which is a text', { errors: { name: 'is required', id: ['is wrong'], type: [1] } }, 'id is wrong'],
  ['none', { errors: null }, 'The service answered 403'],
  ['of a document that is a list', [{ errors: ['x'] }], 'The service answered 403'],
])("a refusal whose errors are not the service's is told, once: %s", async (_name, body, what) => {
  await using stack = new AsyncDisposableStack();
  const { sluice, seen } = await startScripted(stack, [{ status: 403, body: body as object }]);
  const error = await sluice.tokens.get('t').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForbiddenError);
  expect(error).toMatchObject({ message: `GET /tokens/{id}: ${what} (status 403)` });
  expect(seen).toHaveLength(1);
});

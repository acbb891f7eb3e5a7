import { problemRefusal, proxyRefusal, ServiceError, validationFailed } from './index.ts';

const bodyOf = (error: ServiceError) => JSON.parse(proxyRefusal(error, 'trace').body);
const headersOf = (error: ServiceError) => proxyRefusal(error, 'trace').headers;

test('beside proxy_error stands what published clients look for', () => {
  const error = new ServiceError('not_found', 'No Proxy has this key');
  expect(bodyOf(error)).toEqual({
    proxy_error: JSON.parse(problemRefusal(error, 'trace').body),
    error: { type: 'sluice_not_found', code: 'not_found', message: 'Not found: No Proxy has this key' },
  });
  expect(problemRefusal(error, 'trace').headers).toContain('application/problem+json');
});

test('its param is the first member at fault', () => {
  expect(bodyOf(validationFailed({ 'a[0]': ['is required'], b: ['is required'] })).error).toMatchObject({
    code: 'validation_failed',
    param: 'a[0]',
  });
});

test('the length is that of the bytes', () => {
  const { headers, body } = proxyRefusal(new ServiceError('bad_request', 'größer'), 'trace');
  expect(headers).toContain(`${Buffer.byteLength(body)}`);
  expect(Buffer.byteLength(body)).toBeGreaterThan(body.length);
});

test.each([
  'invalid_proxy_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'payload_too_large',
  'transform_failed',
  'destination_answer_unusable',
  'not_implemented',
  'loop_detected',
] as const)('%s tells clients not to try again', (code) => {
  expect(headersOf(new ServiceError(code, 'x')).join()).toContain('x-should-retry,false,stripe-should-retry,false');
});

test.each([
  'request_timeout',
  'conflict',
  'too_many_requests',
  'internal',
  'destination_unreachable',
  'destination_failed',
  'destination_timeout',
  'unavailable',
] as const)('%s may pass, so nothing keeps a client from trying again', (code) => {
  expect(headersOf(new ServiceError(code, 'x')).join()).not.toContain('should-retry');
});

test('where there is a time to wait, a retry may help', () => {
  const headers = headersOf(new ServiceError('transform_failed', 'x', { retryAfterSeconds: 2 }));
  expect(headers.join()).toMatch(/Retry-After,2$/);
  expect(headers.join()).not.toContain('should-retry');
});

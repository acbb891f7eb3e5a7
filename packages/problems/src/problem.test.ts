import { asServiceError, errorCodes, ServiceError, toProblem, validationFailed } from './index.ts';

describe('toProblem', () => {
  test('a ServiceError becomes its status, its title and its public detail', () => {
    expect(toProblem(new ServiceError('not_found', 'Application 1 does not exist'), 'trace')).toEqual({
      type: 'urn:sluice:problem:not_found',
      title: 'Not found',
      status: 404,
      detail: 'Application 1 does not exist',
      instance: 'trace',
    });
  });

  test('validation errors are mapped by path', () => {
    const problem = toProblem(validationFailed({ 'rules[0].priority': ['must be at least 1'] }), 'trace');
    expect(problem.title).toBe('One or more validation errors occurred.');
    expect(problem.errors).toEqual({ 'rules[0].priority': ['must be at least 1'] });
  });

  test.each([new Error('password is hunter2'), 'hunter2', null, undefined, { message: 'hunter2' }])(
    'anything else is a bare 500 that repeats nothing',
    (thrown) => {
      const problem = toProblem(thrown, 'trace');
      expect(problem.status).toBe(500);
      expect(JSON.stringify(problem)).not.toContain('hunter2');
    },
  );

  test.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('terminating connection'), { code: '57P01' }),
    Object.assign(new Error('terminating connection due to idle-in-transaction timeout'), { code: '25P03' }),
    new Error('Connection terminated unexpectedly'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Client was closed and is not queryable'),
    new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]),
  ])('a store that is away is 503 with Retry-After: %s', (error) => {
    expect(asServiceError(error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1, status: 503 });
  });

  const fault = (code: string, message: string) => Object.assign(new Error(message), { code });

  test.each([
    fault('XX000', 'failure on connection marked as essential: worker-1:5432'),
    fault('XX000', 'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally'),
    fault('XX000', 'SSL SYSCALL error: EOF detected'),
    fault('58030', 'failed to COPY to shard 102008: server closed the connection unexpectedly'),
  ])('a shard of Citus that is lost in a request is 503 with Retry-After: %s', (error) => {
    expect(asServiceError(error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1, status: 503 });
  });

  test.each([
    fault('XX000', 'could not find a bug'),
    fault('58030', 'could not read block 7 in file "base/5/1234"'),
    fault('P0001', 'server closed the connection unexpectedly'),
    new Error('SSL SYSCALL error: EOF detected'),
  ])('another fault with its code, or its sentence alone, stays a 500: %s', (error) => {
    expect(asServiceError(error).status).toBe(500);
  });

  test('a statement that took too long is 503, says so and names what costs less', () => {
    const error = asServiceError(fault('57014', 'canceling statement due to statement timeout'));
    expect(error).toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 5 });
    for (const words of ['took too long', 'narrower', '/v2/tokens', 'start']) expect(error.detail).toContain(words);
    expect(asServiceError(fault('57P01', 'terminating connection')).detail).not.toContain('took too long'); // control
  });

  test('every code has a status and a title', () => {
    for (const { status, title } of Object.values(errorCodes)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(title).not.toBe('');
    }
  });
});

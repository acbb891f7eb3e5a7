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

  test('every code has a status and a title', () => {
    for (const { status, title } of Object.values(errorCodes)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(title).not.toBe('');
    }
  });
});

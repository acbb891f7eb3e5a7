import { proxyMembers } from '@sluice/database';

const sampleCode =
  'module.exports = async function ({ args, configuration }) {\n  console.log("amount", args.body.amount);\n  return { body: { ...args.body, merchant: configuration.MERCHANT } };\n};\n';

export const transformTrialBody = {
  type: 'object',
  title: 'TransformTrialBody',
  required: ['code', 'args'],
  properties: {
    code: { type: 'string', minLength: 1, description: 'Code of the transform, at most 256 KiB' },
    args: {
      type: 'object',
      description:
        'Value of `req.args`: `body` and `headers`, and for a request transform also `method`, `path` and `query`. A field that you leave out has the value that it has in an empty request or response.',
      properties: {
        body: { description: 'Any JSON value' },
        headers: { description: 'Headers, with names in lower case' },
        method: { description: 'Method of the request' },
        path: { description: 'Path after `/proxy`' },
        query: { description: 'Query, beginning with `?`' },
      },
    },
    configuration: proxyMembers.configuration.schema,
    kind: {
      type: 'string',
      enum: ['request', 'response'],
      default: 'request',
      description: 'Whether the code is a request transform or a response transform',
    },
  },
  examples: [
    { code: sampleCode, args: { body: { amount: 1250 } }, configuration: { MERCHANT: 'acct_20931' }, kind: 'request' },
  ],
} as const;

export const transformTrial = {
  type: 'object',
  title: 'TransformTrial',
  description: 'Result of a test: either `result` or `error`.',
  required: ['console', 'duration_ms'],
  properties: {
    result: {
      type: 'object',
      description: 'What the transform returned. A field that the transform did not return is absent',
      properties: { body: { description: 'Any JSON value' }, headers: { description: 'Any JSON value' } },
    },
    error: {
      type: 'object',
      description: 'Error of the test. `status` is the status of the response that a caller would get',
      required: ['status', 'title'],
      properties: {
        status: { type: 'integer', minimum: 100, maximum: 599 },
        title: { type: 'string' },
        detail: { type: 'string', description: 'Name, message and line of the error, or why the code was stopped' },
        errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
        line: { type: 'integer', minimum: 1, description: 'Line of the error in the code' },
        column: { type: 'integer', minimum: 1 },
        stopped_by: {
          type: 'string',
          description:
            'What stopped the code. `cpuMs`, `wallMs`, `heapBytes`, `stackBytes`, `outputBytes` and `hostCalls` are limits. `stuck` means that the code waited for a promise that can never settle. `crashed` means that the thread of the code crashed',
        },
        headers: { description: 'Present if the code threw a CustomHttpResponseError' },
        body: { description: 'Present if the code threw a CustomHttpResponseError' },
      },
    },
    client: {
      type: 'object',
      description:
        'What the code did with `req.svc`. Absent if the code did not call it. In a test run there are no rules, masks or search, and tokens exist only during the run',
      required: ['answered_by', 'calls'],
      properties: {
        answered_by: { type: 'string', enum: ['stand-in'] },
        calls: { type: 'integer', minimum: 1, description: 'Number of calls' },
      },
    },
    console: {
      type: 'array',
      description: 'Console output of the code, at most 16 KiB. Empty if the run was killed',
      items: {
        type: 'object',
        required: ['level', 'text'],
        properties: {
          level: { type: 'string', enum: ['debug', 'info', 'warn', 'error'] },
          text: { type: 'string' },
        },
      },
    },
    duration_ms: { type: 'number', minimum: 0 },
    cpu_ms: { type: 'number', minimum: 0, description: 'CPU time in milliseconds. Absent if the thread was killed' },
  },
  examples: [
    {
      result: { body: { amount: 1250, merchant: 'acct_20931' } },
      console: [{ level: 'info', text: 'amount 1250' }],
      duration_ms: 1.82,
      cpu_ms: 0.41,
    },
  ],
} as const;

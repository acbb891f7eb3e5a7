import { proxyMembers } from '@sluice/database';

const sampleCode =
  'module.exports = async function ({ args, configuration }) {\n  console.log("amount", args.body.amount);\n  return { body: { ...args.body, merchant: configuration.MERCHANT } };\n};\n';

export const transformTrialBody = {
  type: 'object',
  title: 'TransformTrialBody',
  required: ['code', 'args'],
  properties: {
    code: { type: 'string', minLength: 1, description: 'The transform; at most 256 KiB' },
    args: {
      type: 'object',
      description:
        'What `req.args` is: `body` and `headers`, of a request also `method`, `path` and `query`. What is left out is as of an empty request or response.',
      properties: {
        body: { description: 'Any JSON value' },
        headers: { description: 'By names in lower case' },
        method: { description: 'Of the request' },
        path: { description: 'What follows `/proxy`' },
        query: { description: 'With its `?`' },
      },
    },
    configuration: proxyMembers.configuration.schema,
    kind: { type: 'string', enum: ['request', 'response'], default: 'request', description: 'Which transform it is' },
  },
  examples: [
    { code: sampleCode, args: { body: { amount: 1250 } }, configuration: { MERCHANT: 'acct_20931' }, kind: 'request' },
  ],
} as const;

export const transformTrial = {
  type: 'object',
  title: 'TransformTrial',
  description: 'What came of a trial: `result` or `error`, never both.',
  required: ['console', 'duration_ms'],
  properties: {
    result: {
      type: 'object',
      description: 'What the transform returned; a member that it left out is missing',
      properties: { body: { description: 'Any JSON value' }, headers: { description: 'Any JSON value' } },
    },
    error: {
      type: 'object',
      description: 'What the caller of a Proxy would be answered with',
      required: ['status', 'title'],
      properties: {
        status: { type: 'integer', minimum: 100, maximum: 599 },
        title: { type: 'string' },
        detail: { type: 'string', description: 'Name, message and line of what was thrown, or why it was stopped' },
        errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
        line: { type: 'integer', minimum: 1, description: 'Where in the code it was thrown' },
        column: { type: 'integer', minimum: 1 },
        stopped_by: {
          type: 'string',
          description:
            'The limit: `cpuMs`, `wallMs`, `heapBytes`, `stackBytes`, `outputBytes`, `hostCalls`; `stuck` for a promise that can never settle',
        },
        headers: { description: 'Of a CustomHttpResponseError' },
        body: { description: 'Of a CustomHttpResponseError' },
      },
    },
    client: {
      type: 'object',
      description:
        'Where the code called `req.svc`: a stand-in answered, which keeps tokens in a map for this one run and has no rules, masks or search',
      required: ['answered_by', 'calls'],
      properties: {
        answered_by: { type: 'string', enum: ['stand-in'] },
        calls: { type: 'integer', minimum: 1, description: 'How many calls it answered' },
      },
    },
    console: {
      type: 'array',
      description: 'What the code printed, at most 16 KiB; nothing where its thread had to be ended',
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
    cpu_ms: { type: 'number', minimum: 0, description: 'CPU time; missing where its thread had to be ended' },
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

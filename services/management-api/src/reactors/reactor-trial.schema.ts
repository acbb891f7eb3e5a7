import { transformTrial } from '../proxies/transform-trial.schema.ts';
import { reactorBody } from './reactor.schema.ts';

const sampleCode =
  'module.exports = async function ({ args, configuration }) {\n  console.log("amount", args.amount);\n  return { raw: { fee: args.amount * configuration.RATE }, tokenize: { card: args.card } };\n};\n';

export const reactorTrialBody = {
  type: 'object',
  title: 'ReactorTrialBody',
  required: ['code', 'args'],
  properties: {
    code: reactorBody.properties.code,
    args: { description: 'Value of `req.args`: any JSON. Expressions are not evaluated' },
    configuration: { ...reactorBody.properties.configuration, description: 'Value of `req.configuration`' },
  },
  examples: [{ code: sampleCode, args: { amount: 1250, card: '4242424242424242' }, configuration: { RATE: 0.02 } }],
} as const;

const { error, console, duration_ms, cpu_ms } = transformTrial.properties;

export const reactorTrial = {
  type: 'object',
  title: 'ReactorTrial',
  description: 'Result of a test: either `result` or `error`.',
  required: ['console', 'duration_ms'],
  properties: {
    result: {
      type: 'object',
      description: 'What the code returned. A field that the code did not return is absent',
      properties: {
        raw: { description: 'Any JSON' },
        body: { description: 'Any JSON' },
        headers: { description: 'Any JSON' },
        tokenize: { description: 'Values that would become tokens' },
      },
    },
    error: {
      ...error,
      description: 'Error of the test. `status` is the status of the response that a caller would get',
    },
    console,
    duration_ms,
    cpu_ms,
  },
  examples: [
    {
      result: { raw: { fee: 25 }, tokenize: { card: '4242424242424242' } },
      console: [{ level: 'info', text: 'amount 1250' }],
      duration_ms: 1.82,
      cpu_ms: 0.41,
    },
  ],
} as const;

export const reactorParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', format: 'uuid' } },
} as const;

export const reactBody = {
  title: 'Reaction',
  type: 'object',
  properties: {
    args: {
      description:
        'Arguments: any JSON, with expressions in its strings. A number that JavaScript would round, such as an integer above 2^53 − 1, is 400: send it as text. Default: an empty object',
    },
  },
  examples: [{ args: { card: '{{ 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24 }}', amount: 1099 } }],
} as const;

export const reactorResult = {
  title: 'ReactorResult',
  type: 'object',
  description: 'What the code returned. A field that the code did not return is absent',
  properties: {
    raw: { description: 'Any JSON' },
    body: { description: 'Any JSON' },
    headers: { description: 'Any JSON' },
    tokens: { description: 'The field `tokenize` that the code returned, with a token in place of each value' },
  },
  examples: [
    { raw: { bin: { brand: 'visa', country: 'FR' } }, tokens: { receipt: '6f1c7c1e-5f0d-4c58-a9a4-2d0f5f1a7b30' } },
  ],
} as const;

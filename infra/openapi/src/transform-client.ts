/** What transforms find as `req.svc`: a chapter of the reference. */
export const transformClient = `
## The client of transforms: \`svc\`

A transform of a Proxy with an \`application\` finds a client of the service in \`req.svc\`. It acts as that Application, with its
permissions and rules; without an Application it is absent. All methods answer promises.

| Method | Answers |
|---|---|
| \`svc.tokens.create(token)\` | the token, as \`POST /tokens\` |
| \`svc.tokens.retrieve(id)\` | the token, its \`data\` as the rules show it, as \`GET /tokens/{id}\` |
| \`svc.tokens.update(id, patch)\` | the token after the merge, as \`PATCH /tokens/{id}\` |
| \`svc.tokens.delete(id)\` | nothing |
| \`svc.tokenize(value)\` | the value with tokens in it, as \`POST /tokenize\` |
| \`svc.detokenize(value)\` | the value with each \`{{ <token id> }}\` replaced: plaintext under \`token:use\`, otherwise what the rule for \`token:read\` shows |

A call that is refused rejects with an \`Error\` whose \`message\` is the detail, with \`status\` and \`code\`. A run may make 50 calls
(\`TRANSFORM_HOST_CALLS\`). For example, a response transform that keeps the card number away from the caller:

\`\`\`js
module.exports = async function ({ args, svc }) {
  const { id } = await svc.tokens.create({ type: 'card', data: args.body.card });
  return { body: { ...args.body, card: id } };
};
\`\`\`

\`POST /proxies/test-transform\`, \`sluice proxies test\` and \`npm run transform -- test\` run a transform against a stand-in for this
client, which keeps its tokens in a map for that one run and has no rules, masks or search.
`.trim();

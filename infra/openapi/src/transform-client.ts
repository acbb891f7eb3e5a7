/** What transforms find as `req.svc`: a chapter of the reference. */
export const transformClient = `
## The client of transforms: \`svc\`

If a Proxy has an \`application\`, its transforms get a client of the service in \`req.svc\`. The client has the permissions and
rules of that Application. Without an Application there is no \`req.svc\`. All methods return promises.

| Method | Resolves to |
|---|---|
| \`svc.tokens.create(token)\` | the token, as \`POST /tokens\` |
| \`svc.tokens.retrieve(id)\` | the token, with \`data\` as the rules show it, as \`GET /tokens/{id}\` |
| \`svc.tokens.update(id, patch)\` | the token after the merge, as \`PATCH /tokens/{id}\` |
| \`svc.tokens.delete(id)\` | nothing |
| \`svc.tokenize(value)\` | the document with tokens in place of values, as \`POST /tokenize\` |
| \`svc.detokenize(value)\` | the value with each \`{{ <token id> }}\` replaced: plaintext under \`token:use\`, otherwise what the rule for \`token:read\` shows |

If a call is refused, its promise rejects with an \`Error\`. Its \`message\` is the detail of the problem, and it has \`status\` and
\`code\`. A run may make 50 calls (\`TRANSFORM_HOST_CALLS\`). This response transform replaces the card number with a token
before the caller gets the response:

\`\`\`js
module.exports = async function ({ args, svc }) {
  const { id } = await svc.tokens.create({ type: 'card', data: args.body.card });
  return { body: { ...args.body, card: id } };
};
\`\`\`

\`POST /proxies/test-transform\`, \`sluice proxies test\` and \`npm run transform -- test\` run a transform with a stand-in for this
client. The stand-in stores its tokens only during the run, and has no rules, masks or search.
`.trim();

import { eventually } from '@sluice/testing';
import type { Stage } from '../stage.ts';

const asked = ['argument of a run', 'value of a run'];

/** Reactors are run asynchronously with values, print them, throw them, answer them, and are asked about. */
export async function runReactors({ client, canaries, destination, revealing, managementKey }: Stage): Promise<void> {
  const { key } = revealing;
  const token = { type: 'token', data: canaries.text('value of a run') };
  const { id: tokenId } = (
    await client.send('POST', '/tokens', { key, body: token, shows: ['value of a run'], is: 201 })
  ).json;
  const secrets = 'JSON.stringify([req.args.value, req.configuration])';
  const programs = {
    answers: `console.log(req.args.value, req.configuration); console.error(btoa(unescape(encodeURIComponent(${secrets}))));
      await fetch('${destination.url}', { method: 'POST', body: ${secrets} });
      return { raw: req.args, tokenize: { type: 'token', data: req.args.value } };`,
    throws: `throw new Error(${secrets});`,
    loops: `for (;;) ${secrets};`,
  };
  for (const [name, code] of Object.entries(programs)) {
    const configuration = { secret: canaries.text('configuration of a reactor') };
    const reactor = { name, code: `module.exports = async (req) => { ${code} };`, configuration };
    const shows = ['configuration of a reactor'];
    const { id } = (await client.send('POST', '/reactors', { key: managementKey, body: reactor, shows, is: 201 })).json;
    const args = { value: `{{ ${tokenId} }}`, plain: canaries.text('argument of a run') };
    const headers = { 'SVC-IDEMPOTENCY-KEY': `run-${name}` };
    const sent = { key, body: { args, timeout_ms: 10_000 }, headers, is: 202 };
    const { async_reactor_request_id: runId } = (await client.send('POST', `/reactors/${id}/react-async`, sent)).json;
    await client.send('POST', `/reactors/${id}/react-async`, sent);
    await client.send('POST', `/reactors/${id}/react-async`, {
      key,
      body: { args: 'x', timeout_ms: canaries.card },
      is: 400,
    });
    await eventually('the run ends', async () => {
      const { json } = await client.send('GET', `/reactors/${id}/results/${runId}`, {
        key,
        shows: name === 'answers' ? asked : [],
      });
      return json.async_reactor_request_id === undefined;
    });
    await client.send('GET', `/reactors/${id}/results`, { key: managementKey, is: 200 });
    await client.send('DELETE', `/reactors/${id}/results/${runId}`, { key, is: 409 });
  }
}

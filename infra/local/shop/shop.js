// All code that a shop needs to take cards. It never has a number; only the vault's frames do.
const { fields: vault, loader, key, application } = document.body.dataset;
const { fields } = await import(loader);

const byId = (id) => document.getElementById(id);
const post = async (path, body) => {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`The shop's server answered ${response.status}`);
  return response.json();
};

const card = fields(vault, key, { application });
const titles = { number: 'Card number', expiry: 'Expiry date', cvc: 'Security code' };
const complete = {};
const seen = [];

function show(what, value) {
  const text = JSON.stringify(value, null, 2);
  seen.push(`${what}\n${text.length < 100 ? text.replace(/\s+/g, ' ') : text}`);
  byId('page-saw').value = seen.join('\n\n');
  byId('page-saw').scrollTop = byId('page-saw').scrollHeight;
}

function mount(kind) {
  const field = card.field(kind, `#${kind}`, { title: titles[kind], label: `#${kind}-label` });
  byId(kind).dataset.shown = 'a frame, nothing in it';
  field.on('change', (change) => {
    complete[kind] = change.complete;
    byId(kind).dataset.shown = change.empty ? 'empty' : change.complete ? 'complete' : 'not complete';
    byId('pay').querySelector('button').disabled = !Object.keys(titles).every((one) => complete[one]);
    if (change.last4) byId('last4').textContent = change.last4;
    show(`change of ${kind}`, change);
  });
  field.on('error', ({ title }) => fail(title));
  return field;
}

function fail(text) {
  byId('status').textContent = text;
  byId('status').classList.add('failed');
}

const mounted = Object.keys(titles).map(mount);

byId('pay').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = byId('pay').querySelector('button');
  button.disabled = true;
  try {
    const token = await card.tokenize();
    show('tokenize() answered', token);
    const { seen: server } = await post('/pay', { token: token.id });
    byId('server-saw').value = server;
    byId('processor').src = byId('processor').src;
    reveal(token.id);
  } catch (error) {
    fail(error.message);
    button.disabled = false;
  }
});

/** The session that the frame makes is authorized by the shop's server, for this token alone. */
function reveal(token) {
  byId('pay').hidden = true;
  byId('paid').hidden = false;
  byId('reveal').dataset.shown = 'a frame, nothing in it';
  const authorize = async (nonce) => {
    show('authorize was given', { nonce });
    await post('/authorize', { nonce, token });
  };
  fields(vault, key, { application }).field('reveal', '#reveal', { title: 'Your card', token, authorize });
}

byId('again').addEventListener('click', () => location.reload());
byId('blind').addEventListener('change', ({ target }) => document.body.classList.toggle('blind', target.checked));
await Promise.all(mounted.map(({ ready }) => ready)).catch(({ message }) => fail(message));

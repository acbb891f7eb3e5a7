// The pages of signing in. What gives a cookie is sent by a click or by the page of the way back, never by an address alone.

const { headerPrefix } = document.documentElement.dataset;
const invitationKey = 'invitation';
const wayBackKey = 'back';

const part = (name) => document.querySelector(`[data-part="${name}"]`);

async function call(method, path, body) {
  const headers = { [`${headerPrefix}-CONSOLE`]: '1', ...(body && { 'Content-Type': 'application/json' }) };
  const answer = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const isJson = (answer.headers.get('Content-Type') ?? '').includes('json');
  return { ok: answer.ok, status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : {} };
}

function fail(text) {
  const alert = part('alert');
  alert.textContent = text;
  alert.hidden = false;
}

/** Does the work once at a time, and says why it failed. A field that was refused gets the focus. */
async function attempt(work, button, field) {
  part('alert').hidden = true;
  field?.removeAttribute('aria-invalid');
  if (button) button.disabled = true;
  try {
    const { ok, body } = await work();
    if (!ok) fail(body.detail ?? 'This did not work. Please try again.');
    if (!ok && field) {
      field.setAttribute('aria-invalid', 'true');
      field.focus();
    }
    return ok;
  } catch {
    fail('The server could not be reached. Please try again.');
    return false;
  } finally {
    if (button) button.disabled = false;
  }
}

async function attemptToEnter(work, button, field) {
  if (await attempt(work, button, field)) enter();
}

/** To the address from which the console led to the sign-in, in this tab; what is not a path of this host is not followed. */
function enter() {
  const back = sessionStorage.getItem(wayBackKey) ?? '/';
  sessionStorage.removeItem(wayBackKey);
  location.replace(new URL(back, location.origin).origin === location.origin ? back : '/');
}

/** The secret leaves the address at once, so that no history and no screenshot has it. */
function takeSecret() {
  const secret = location.hash.slice(1);
  if (secret !== '') history.replaceState(null, '', location.pathname);
  return secret;
}

/** Stays with this entry of the tab's history, so that a reload and the way back have it, and no other page has. */
function takeInvitation() {
  const invitation = takeSecret() || history.state?.invitation || '';
  history.replaceState({ invitation }, '');
  return invitation;
}

function show(name, texts = {}) {
  const shown = part(name);
  for (const [slot, text] of Object.entries(texts)) {
    const place = shown.querySelector(`[data-slot="${slot}"]`);
    place.textContent = text ?? '';
    place.hidden = !text;
    place.previousElementSibling.hidden = !text; // its name
  }
  shown.hidden = false;
}

function onClick(name, act) {
  const button = part(name);
  button?.addEventListener('click', () => act(button));
}

/** An invitation belongs to the one sign-in that is begun on its page. Whoever signs in later in this tab may be somebody else. */
function forgetInvitation() {
  sessionStorage.removeItem(invitationKey);
}

function signInPage() {
  forgetInvitation();
  part('key').addEventListener('submit', (event) => {
    event.preventDefault();
    const input = event.target.elements.namedItem('key');
    const key = input.value.trim();
    attemptToEnter(() => call('POST', '/api/sign-in', { key }), event.submitter, input);
  });
  const secret = takeSecret();
  if (secret === '') return;
  part('ways').hidden = true;
  attempt(async () => {
    const found = await call('POST', '/api/sign-in/link', { secret });
    if (found.ok) show('link', { tenant: found.body.tenant.name, email: found.body.email });
    else part('ways').hidden = false;
    return found;
  });
  onClick('use-link', (button) => attemptToEnter(() => call('POST', '/api/sign-in', { secret }), button));
}

function invitationPage() {
  forgetInvitation();
  const token = takeInvitation();
  if (token === '') return fail('This page needs the whole link of an invitation.');
  // The way back from an issuer may show this page as it was, without running this script again.
  window.addEventListener('pageshow', ({ persisted }) => persisted && forgetInvitation());
  for (const link of document.querySelectorAll('.choices a')) {
    link.addEventListener('click', ({ ctrlKey, metaKey, shiftKey }) => {
      const isThisTab = !(ctrlKey || metaKey || shiftKey);
      if (isThisTab) sessionStorage.setItem(invitationKey, token);
    });
  }
  attempt(async () => {
    const found = await call('POST', '/api/invitations/link', { token });
    if (!found.ok) return found;
    show('invitation', { tenant: found.body.tenant.name, email: found.body.email, role: found.body.role });
    return found;
  });
  onClick('accept', async (button) => {
    const accepted = await attempt(() => call('POST', '/api/invitations/accept', { token }), button);
    if (accepted) enter();
  });
}

function finishPage() {
  const finish = (body, button) => attemptToEnter(() => call('POST', '/api/sign-in/finish', body), button);
  const tenants = [...document.querySelectorAll('[data-tenant]')];
  const choose = () => {
    if (tenants.length === 1) finish({});
    else part(tenants.length === 0 ? 'none' : 'tenants').hidden = false;
  };
  for (const button of tenants) {
    button.addEventListener('click', () => finish({ tenant_id: button.dataset.tenant }, button));
  }
  const invitation = sessionStorage.getItem(invitationKey);
  if (!invitation) return choose();
  forgetInvitation();
  attempt(() => call('POST', '/api/sign-in/finish', { invitation })).then((accepted) => {
    if (accepted) enter();
    else part(tenants.length === 0 ? 'none' : 'tenants').hidden = false;
  });
}

/** A button for each Tenant that the person may change to. */
function offer(tenants) {
  const list = part('others').querySelector('ul');
  for (const { id, name } of tenants) {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'button quiet tenant',
    });
    const small = Object.assign(document.createElement('small'), { textContent: id });
    button.append(name, small);
    button.addEventListener('click', () =>
      attemptToEnter(() => call('POST', '/api/sign-in/tenant', { tenant_id: id }), button),
    );
    const item = document.createElement('li');
    item.append(button);
    list.append(item);
  }
  part('others').hidden = tenants.length === 0;
}

function signedInPage() {
  attempt(async () => {
    const found = await call('GET', '/api/me');
    if (found.status === 401) {
      location.replace('/sign-in');
      return { ok: true };
    }
    const { user, application_id: application, tenant, tenants = [], role } = found.body;
    if (found.ok) {
      const person = user ? (user.email ?? user.id) : `Application ${application}`;
      show('signed-in', { person, tenant: tenant.name, role });
      offer(tenants.filter(({ id }) => id !== tenant.id));
    }
    return found;
  });
  const leave = async (body, button) => {
    if (await attempt(() => call('POST', '/api/sign-out', body), button)) location.replace('/sign-in');
  };
  onClick('sign-out', (button) => leave({}, button));
  onClick('sign-out-everywhere', (button) => leave({ all: true }, button));
}

/** A link that is pasted into a tab at the same path changes only what follows #, so the page has to begin anew. */
window.addEventListener('hashchange', () => {
  if (location.hash !== '') location.reload();
});

const pages = { 'sign-in': signInPage, invitation: invitationPage, finish: finishPage, 'signed-in': signedInPage };
pages[document.body.dataset.page]?.();

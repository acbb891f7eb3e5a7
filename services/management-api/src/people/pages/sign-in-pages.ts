import { readFileSync } from 'node:fs';
import { type Html, html, type PageAnswer, pageHeaders, type StaticFile } from '@sluice/http-api';

export interface SignInPagesOptions {
  /** In the order of the setting. */
  issuerNames: readonly string[];
  /** Whether an invitation can be accepted without an issuer. */
  linkSignIn: boolean;
  headerPrefix: string;
}

export interface SignInPages {
  /** The pages and assets that are the same for everybody. The reference at this host uses `/theme.js`, too. */
  files: StaticFile[];
  /** Shows who is signed in and lets them sign out: at `/sign-out`, and at every path if there is no console. */
  signedIn: StaticFile;
  signIn: PageAnswer;
  /** The page after the issuer's redirect. Its script finishes the sign-in at once, or once a Tenant is chosen. */
  finish(tenants: readonly { id: string; name: string }[], email: string | undefined): PageAnswer;
  failure(failure: { status: number; title: string; text: string; traceId: string }): PageAnswer;
}

/** Only our script and our style sheet: nothing inline, and the browser itself never submits a form. */
const headers = pageHeaders({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
});

export function renderSignInPages(options: SignInPagesOptions): SignInPages {
  const page = (name: string, title: string, content: Html) => layout({ name, title, content }, options.headerPrefix);
  const signIn = page('sign-in', 'Sign in', signInContent(options));
  const signedIn = page('signed-in', 'Signed in', signedInContent());
  const answer = (status: number, text: string): PageAnswer => ({ status, html: text, headers });
  return {
    signIn: answer(200, signIn),
    signedIn: file('/sign-out', signedIn),
    finish: (tenants, email) => answer(200, page('finish', 'Signing in', finishContent(tenants, email))),
    failure: ({ status, title, text, traceId }) =>
      answer(status, page('failure', title, failureContent({ title, text, traceId }))),
    files: [
      file('/sign-in', signIn),
      file('/invitation', page('invitation', 'Invitation', invitationContent(options))),
      file('/sign-out', signedIn),
      asset('/sign-in.css', 'css', Buffer.concat([readPublic('tokens.css'), readPublic('sign-in/sign-in.css')])),
      asset('/sign-in.js', 'js', readPublic('sign-in/sign-in.js')),
      asset('/theme.js', 'js', readPublic('theme.js')),
    ],
  };
}

function file(path: string, text: string): StaticFile {
  return { path, type: 'html', body: Buffer.from(text), caching: 'no-store', headers };
}

/** Browsers must revalidate it each time, because the next version has the same paths. */
function asset(path: string, type: 'css' | 'js', body: Buffer): StaticFile {
  return { path, type, body, caching: { maxAgeSeconds: 0 } };
}

function readPublic(name: string): Buffer {
  return readFileSync(new URL(`../../../public/${name}`, import.meta.url));
}

function layout(
  { name, title, content }: { name: string; title: string; content: Html },
  headerPrefix: string,
): string {
  return html`<!doctype html>
<html lang="en" data-header-prefix="${headerPrefix}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Sluice</title>
<script src="/theme.js"></script>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sign-in.css">
<script type="module" src="/sign-in.js"></script>
</head>
<body data-page="${name}">
<main>
<p class="brand"><img src="/docs/icon.svg" alt="" width="28" height="28">Sluice</p>
${content}
<p class="alert" role="alert" id="alert" data-part="alert" hidden></p>
<noscript><p class="alert">This page needs JavaScript, because opening a link must not be enough to sign in.</p></noscript>
</main>
</body>
</html>
`.text;
}

function signInContent({ issuerNames }: SignInPagesOptions): Html {
  return html`<h1>Sign in</h1>
<div data-part="ways">
${issuerNames.length > 0 ? issuerChoices(issuerNames) : html`<p class="soft">No identity provider is set up here, so you sign in with a management key.</p>`}
<details${issuerNames.length > 0 ? undefined : html` open`}>
<summary>Use a management key</summary>
<form data-part="key">
<label for="key">Management key</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required aria-describedby="alert">
<button class="button ${issuerNames.length > 0 ? 'quiet' : ''}">Sign in with the key</button>
<p class="soft">You get the permissions of the key, for at most 12 hours.</p>
</form>
</details>
</div>
<div data-part="link" hidden>
<p>This link works once.</p>
<dl class="who"><dt>Tenant</dt><dd data-slot="tenant"></dd><dt>As</dt><dd data-slot="email"></dd></dl>
<button class="button" type="button" data-part="use-link">Sign in</button>
</div>`;
}

function issuerChoices(names: readonly string[]): Html {
  return html`<ul class="choices">${names.map(
    (name) => html`
<li><a class="button" href="/sign-in/${name}">Continue with ${name}</a></li>`,
  )}
</ul>`;
}

function invitationContent({ issuerNames, linkSignIn }: SignInPagesOptions): Html {
  return html`<h1>You are invited</h1>
<div data-part="invitation" hidden>
<dl class="who"><dt>Tenant</dt><dd data-slot="tenant"></dd><dt>Your role</dt><dd data-slot="role"></dd><dt>For</dt><dd data-slot="email"></dd></dl>
${issuerNames.length > 0 ? html`<p class="soft">To accept the invitation, sign in with an account that has this e-mail address.</p>${issuerChoices(issuerNames)}` : undefined}
${issuerNames.length === 0 && linkSignIn ? html`<button class="button" type="button" data-part="accept">Accept the invitation</button>` : undefined}
${issuerNames.length === 0 && !linkSignIn ? html`<p>No identity provider is set up here, so invitations cannot be accepted yet. Please ask the person who invited you.</p>` : undefined}
</div>`;
}

function finishContent(tenants: readonly { id: string; name: string }[], email: string | undefined): Html {
  return html`<h1>${tenants.length > 1 ? 'Choose a Tenant' : 'Signing in'}</h1>
<p class="soft">${email === undefined ? 'You are signed in at your identity provider, but the provider has not confirmed your e-mail address.' : html`You are signed in at your identity provider as ${email}.`}</p>
<div data-part="tenants" hidden>
<ul class="choices">${tenants.map(
    ({ id, name }) => html`
<li><button class="button quiet tenant" type="button" data-tenant="${id}">${name}<small>${id}</small></button></li>`,
  )}
</ul>
</div>
<div data-part="none" hidden>
<p>You are not a member of any Tenant. Ask a member to invite you, and open the link of the invitation.</p>
<p><a href="/sign-in">Sign in in another way</a></p>
</div>`;
}

function signedInContent(): Html {
  return html`<h1>You are signed in</h1>
<div data-part="signed-in" hidden>
<dl class="who"><dt>As</dt><dd data-slot="person"></dd><dt>Tenant</dt><dd data-slot="tenant"></dd><dt>Role</dt><dd data-slot="role"></dd></dl>
<div data-part="others" hidden>
<h2>Your other Tenants</h2>
<ul class="choices"></ul>
</div>
<div class="choices">
<button class="button" type="button" data-part="sign-out">Sign out</button>
<button class="button quiet" type="button" data-part="sign-out-everywhere">Sign out everywhere</button>
</div>
<p class="other soft">The <a href="/docs">API reference</a> says what you can do.</p>
</div>`;
}

function failureContent({ title, text, traceId }: { title: string; text: string; traceId: string }): Html {
  return html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="/sign-in">To the sign-in page</a></p>
<details>
<summary>Details</summary>
<p class="soft">Trace id ${traceId}</p>
</details>`;
}

import { type Html, html } from '@sluice/http-api';

interface Frame {
  /** Of the window. */
  title: string;
  brand: { href: string; text: string };
  /** Beside the brand. */
  subtitle: string;
  link: { href: string; text: string };
  navigation: { label: string; entries: readonly Html[] };
  /** Begins with the introduction. */
  content: readonly Html[];
}

/**
 * A page to read. It has no script and no field, because destinations answer on the same host, and could read text typed
 * into it.
 */
export function framed({ title, brand, subtitle, link, navigation, content }: Frame): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="brand" href="${brand.href}"><img src="/docs/icon.svg" alt="" width="28" height="28">${brand.text}</a>
<span class="version">${subtitle}</span>
<a class="machine" href="${link.href}">${link.text}</a>
</header>
<nav aria-label="${navigation.label}">
<ul>
${navigation.entries}
</ul>
</nav>
<main id="content">
${content}
</main>
</body>
</html>
`;
  return page.text;
}

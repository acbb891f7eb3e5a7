import { type ErrorCode, errorCodes } from '@sluice/problems';
import { type ErrorText, errorTexts } from './error-texts.ts';

export interface DescribedError extends ErrorText {
  code: ErrorCode;
  status: number;
  title: string;
  /** The example as it is sent. */
  example: object;
}

/** All errors, by status. */
export const describedErrors: readonly DescribedError[] = (Object.keys(errorCodes) as ErrorCode[]).map((code) => ({
  code,
  ...errorCodes[code],
  ...errorTexts[code],
  example: exampleOf(code),
}));

function exampleOf(code: ErrorCode): object {
  const { status, title } = errorCodes[code];
  const { detail } = errorTexts[code];
  const instance = '7c1d2b1e-6f0a-4d59-9a42-1f6a2f1c9b7e';
  const errors = code === 'validation_failed' ? { errors: { name: ['must not be empty'] } } : {};
  return { type: `urn:sluice:problem:${code}`, title, status, detail, instance, ...errors };
}

/** Above the list, in Markdown. */
export const errorsIntroduction = `
Every error is a problem document (RFC 9457). The end of its \`type\` is the error code: \`urn:sluice:problem:not_found\` has the
code \`not_found\`. Programs should read the code. People should read \`detail\`. \`instance\` is the trace id of the
request: search the logs for it.

An error of an invocation of a Proxy is in the field \`proxy_error\` of the body. If the response has the header
\`SVC-PROXY-DESTINATION-STATUS\`, the status is from the destination, and this list does not apply.
`.trim();

/** The list as a page for the repository. */
export function errorsMarkdown(): string {
  return `# Errors\n\n${errorsIntroduction}\n\n${describedErrors.map(section).join('\n\n')}\n`;
}

function section(error: DescribedError): string {
  const { code, status, title, meaning, onlyFrom, example } = error;
  return [
    `## ${code}`,
    `**${status} ${title.replace(/\.$/, '')}.** ${meaning}${onlyFrom ? ` Only ${onlyFrom} cause this error.` : ''}`,
    factsOf(error)
      .map(([name, text]) => `- **${name}:** ${text}`)
      .join('\n'),
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
  ].join('\n\n');
}

export function factsOf({ cause, remedy, retry }: ErrorText): [string, string][] {
  return [
    ['Cause', cause],
    ['What to do', remedy],
    ['Does a retry help?', retry],
  ];
}

import { compileBodyCheck } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { type CompileError, TransformStopped } from '@sluice/sandbox';
import { findApplication } from '../applications/application.queries.ts';
import type { Context } from '../context.ts';
import { proxyBody } from './proxy.schema.ts';

export interface ProxyDefinition {
  name: string;
  destination_url: string;
  request_transform?: { code: string };
  response_transform?: { code: string };
  application?: { id: string };
  configuration?: Record<string, string>;
  require_auth: boolean;
}

const transformLimitBytes = 256 * 1024;
const configurationLimitBytes = 64 * 1024;
const transformMembers = ['request_transform', 'response_transform'] as const;

const checkShape = compileBodyCheck(proxyBody);

/** Fills in the defaults. */
export function isProxyDefinition(value: unknown): asserts value is ProxyDefinition {
  checkShape(value);
}

interface NamesApplication {
  application?: unknown;
  application_id?: unknown;
}

/** Bodies may name the Application as `application_id`, as answers do. `application` wins, even as null. */
export function withApplication<T extends NamesApplication>({ application_id: id, ...body }: T) {
  if (body.application !== undefined || id === undefined) return body;
  return { ...body, application: id === null ? null : { id } };
}

/** Checks what a schema cannot express. @throws {ServiceError} `validation_failed` by member. */
export async function checkDefinition(definition: ProxyDefinition, tenantId: string, context: Context): Promise<void> {
  checkSizes(definition);
  const destination = context.destinationPolicy.checkUrl(definition.destination_url);
  if (!destination.ok) throw validationFailed({ destination_url: [destination.reason] });
  if (definition.application) await checkApplication(definition.application.id, tenantId, context);
}

function checkSizes(definition: ProxyDefinition): void {
  for (const member of transformMembers) {
    const { code } = definition[member] ?? {};
    if (code) checkCodeSize(`${member}.code`, code);
  }
  checkConfigurationSize(definition.configuration);
}

function checkCodeSize(path: string, code: string): void {
  if (Buffer.byteLength(code) <= transformLimitBytes) return;
  throw validationFailed({ [path]: [`may have at most ${transformLimitBytes} bytes`] });
}

/** @throws {ServiceError} `validation_failed` for more than 64 KiB. */
export function checkConfigurationSize(configuration: Record<string, string> | undefined): void {
  if (configuration && Buffer.byteLength(JSON.stringify(configuration)) > configurationLimitBytes) {
    throw validationFailed({ configuration: [`may have at most ${configurationLimitBytes} bytes in all`] });
  }
}

async function checkApplication(id: string, tenantId: string, { db }: Context): Promise<void> {
  const application = await findApplication(db, tenantId, id);
  if (application && application.type !== 'management') return;
  throw validationFailed({ 'application.id': ['must be the id of a private or public Application'] });
}

/**
 * A 422, so it comes after 400 and 404. Checks the caller again, because code of the same Tenant is compiled first.
 * @throws {ServiceError} `transform_does_not_compile` with line and column, and as `checkCallerAgain`.
 */
export async function checkTransforms(
  definition: ProxyDefinition,
  { tenantId, checkCallerAgain }: { tenantId: string; checkCallerAgain: () => Promise<void> | undefined },
  context: Pick<Context, 'transforms'>,
): Promise<void> {
  const given = transformMembers.filter((member) => definition[member]);
  for (const member of given) await checkCode(`${member}.code`, definition[member]?.code ?? '', { tenantId, context });
  if (given.length > 0) await checkCallerAgain();
}

/** @throws {ServiceError} `validation_failed` for its size, `transform_does_not_compile` with line and column. */
export async function checkCode(
  path: string,
  code: string,
  { tenantId, context }: { tenantId: string; context: Pick<Context, 'transforms'> },
): Promise<void> {
  checkCodeSize(path, code);
  const fault = await context.transforms.compile(code, tenantId).then(inWords, ifStopped);
  if (fault === undefined) return;
  throw new ServiceError('transform_does_not_compile', `${path}: ${fault}`, { errors: { [path]: [fault] } });
}

const inWords = (fault: CompileError | undefined) =>
  fault && `${fault.message} (line ${fault.line}, column ${fault.column})`;

/** Code that takes too long to be parsed is a fault of the code. */
function ifStopped(error: unknown): string {
  if (error instanceof ServiceError && error.cause instanceof TransformStopped) return error.detail;
  throw error;
}

import type { QuickJSContext, QuickJSHandle, VmFunctionImplementation } from 'quickjs-emscripten';
import type { ConsoleLine } from '../transform-task.ts';
import type { Bridge } from './bridge/bridge.ts';
import { abortFetch, beginFetch, longestRequest, readFetched } from './fetching.ts';
import { readFailure } from './guest-failure.ts';
import { end, type Invocation, stop } from './invocation.ts';
import { payloadUnits } from './payload-units.ts';
import { type Crossing, NoMemory } from './quickjs.ts';

/** Limit for one synchronous operation, in UTF-16 units. */
const bridgeLimit = 2 ** 25;
/** Memory for a custom response apart from its two JSON texts, or for the texts of an error. */
const failureOverhead = 2 ** 16;

type HostFunction = (...handles: QuickJSHandle[]) => QuickJSHandle | undefined;

export interface HostFunctionsOptions {
  context: QuickJSContext;
  crossing: Crossing;
  bridge: Bridge;
  headerPrefix: string;
  hasFetch: boolean;
  invocation: () => Invocation | undefined;
  load: VmFunctionImplementation<QuickJSHandle>;
}

/** The guest's first file removes them before the Tenant's code can see them. */
export function installHostFunctions(options: HostFunctionsOptions): void {
  const { context, headerPrefix, hasFetch, load, invocation } = options;
  const host = context.newObject();
  for (const [name, run] of Object.entries({
    ...answerFunctions(options),
    ...serviceFunctions(options),
    ...(hasFetch && fetchFunctions(options)),
  })) {
    const call = stoppingWithoutMemory(run, invocation);
    context.newFunction(name, call).consume((handle) => context.setProp(host, name, handle));
  }
  context.newFunction('load', load).consume((handle) => context.setProp(host, 'load', handle));
  context.newString(headerPrefix).consume((handle) => context.setProp(host, 'headerPrefix', handle));
  context.setProp(context.global, 'sluiceHost', host);
  host.dispose();
}

/** Stops the run if a text does not fit into memory, because an empty text would be taken for the code's own. */
function stoppingWithoutMemory(run: HostFunction, invocation: () => Invocation | undefined): HostFunction {
  return (...handles) => {
    try {
      return run(...handles);
    } catch (error) {
      const current = invocation();
      if (!current || !(error instanceof NoMemory)) throw error;
      stop(current, 'heapBytes');
      return undefined;
    }
  };
}

function answerFunctions({ crossing, invocation }: HostFunctionsOptions): Record<string, HostFunction> {
  return {
    fail: (failureJson) => {
      const run = invocation();
      if (!run || run.outcome) return undefined;
      if (lengthOf(crossing, failureJson) > 2 * run.limits.outputBytes + failureOverhead) stop(run, 'outputBytes');
      else {
        const failure = readFailure(textOf(crossing, failureJson), run.limits.fieldErrors);
        end(run, failure ? { kind: 'thrown', failure } : { kind: 'stopped', by: 'crashed' });
      }
      return undefined;
    },
  };
}

function serviceFunctions({
  context,
  crossing,
  bridge,
  invocation,
}: HostFunctionsOptions): Record<string, HostFunction> {
  return {
    bridge: (operation, parametersJson) => {
      const answer =
        lengthOf(crossing, parametersJson) > bridgeLimit
          ? '[0,{"name":"RangeError","message":"The data is too long"}]'
          : bridge.call(textOf(crossing, operation), textOf(crossing, parametersJson));
      return crossing.newText(answer);
    },
    call: (id, operation, payloadJson) => {
      const run = invocation();
      if (!run || run.outcome) return undefined;
      run.hostCalls += 1;
      if (run.hostCalls - run.fetches.size > run.limits.hostCalls) stop(run, 'hostCalls');
      else if (lengthOf(crossing, payloadJson) > run.payloadUnitsLeft) stop(run, 'outputBytes');
      else {
        const payload = textOf(crossing, payloadJson);
        run.payloadUnitsLeft -= payloadUnits(payload);
        if (run.payloadUnitsLeft < 0) stop(run, 'outputBytes');
        else {
          run.awaitedCalls += 1;
          run.send({ id: numberOf(context, id), operation: textOf(crossing, operation), payloadJson: payload });
        }
      }
      return undefined;
    },
    print: (level, textJson) => {
      const run = invocation();
      if (run && run.consoleBytesLeft > 0)
        print(run, levelOf(textOf(crossing, level)), String(JSON.parse(textOf(crossing, textJson))));
      return undefined;
    },
  };
}

function fetchFunctions({ context, crossing, invocation }: HostFunctionsOptions): Record<string, HostFunction> {
  return {
    fetch: (id, requestJson) => {
      const run = invocation();
      if (!run || run.outcome) return undefined;
      const isTooLong = lengthOf(crossing, requestJson) > longestRequest(run);
      beginFetch(run, numberOf(context, id), isTooLong ? undefined : textOf(crossing, requestJson));
      return undefined;
    },
    readFetched: (id, call) => {
      const run = invocation();
      if (run && !run.outcome) readFetched(run, numberOf(context, id), numberOf(context, call));
      return undefined;
    },
    abortFetch: (call) => {
      const run = invocation();
      if (run && !run.outcome) abortFetch(run, numberOf(context, call));
      return undefined;
    },
  };
}

const levels = ['debug', 'info', 'warn', 'error'] as const;
const levelOf = (text: string): ConsoleLine['level'] => levels.find((level) => level === text) ?? 'info';

function print(run: Invocation, level: ConsoleLine['level'], text: string): void {
  const bytes = Buffer.byteLength(text);
  const kept = bytes <= run.consoleBytesLeft ? text : Buffer.from(text).subarray(0, run.consoleBytesLeft).toString();
  run.consoleBytesLeft -= bytes + 1;
  run.console.push({ level, text: kept });
}

function numberOf(context: QuickJSContext, handle: QuickJSHandle | undefined): number {
  if (handle) return context.getNumber(handle);
  throw new TypeError('Missing parameter');
}

function lengthOf({ lengthOf: measure }: Crossing, handle: QuickJSHandle | undefined): number {
  return handle ? measure(handle) : 0;
}

function textOf(crossing: Crossing, handle: QuickJSHandle | undefined): string {
  return handle ? crossing.textOf(handle) : '';
}

/**
 * The link to Python: one child process, JSON-RPC 2.0 by lines, and what happens when it is slow or gone.
 *
 * Pi awaits every handler without a limit of its own, so nothing here may hang: each wait has a deadline, the first one
 * that is missed opens a breaker that only an answered ping closes, and a child that answers no ping is killed.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

export type Json = Record<string, unknown>;

/** A refusal of either side; `reason` is the word for programs. */
export class Refusal extends Error {
  constructor(
    readonly reason: string,
    message: string = reason,
    readonly data: Json = {},
  ) {
    super(message);
  }
}

export interface LinkOptions {
  /** The interpreter and its arguments. */
  command: readonly string[];
  /** How long events may wait for the first start, all together, and calls for any start or recovery. */
  patienceMs: number;
  /** The parameters of `initialize`, made anew for each child. */
  hello: () => Json;
  /** The child answered `initialize`. */
  ready: (greeting: Json) => void;
  /** No child will be started again; `reason` is a sentence for a person. */
  down: (reason: string) => void;
  /** Answers a request of the child's. */
  answer: (method: string, params: Json, signal: AbortSignal) => unknown;
  /** Takes a notification of the child's. */
  notice: (method: string, params: Json) => void;
}

export interface RequestOptions {
  seconds: number;
  signal?: AbortSignal;
}

interface Pending {
  resolve: (result: Json) => void;
  reject: (error: Error) => void;
}

type State = "new" | "starting" | "ready" | "slow" | "down" | "closed";

const MAX_LINE = 8 * 1024 * 1024;
const MAX_BACKLOG = 1024 * 1024;
const MAX_GARBAGE = 5;
const MAX_RESTARTS = 2;
/** What finds out why Python does not start. */
const LOOK = "; run `persona doctor --host pi`";
const RESTART_WINDOW_MS = 5 * 60_000;
const PING_SECONDS = 5;
const START_SECONDS = 30;
/** After a death, a child is started once no event came for so long, at the latest after `REST_LIMIT_MS`. */
const QUIET_MS = 500;
const REST_LIMIT_MS = 3000;
const LF = 0x0a;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

export class Link {
  private state: State = "new";
  private child: ChildProcessWithoutNullStreams | undefined;
  private exited: Promise<void> = Promise.resolve();
  private pending = new Map<number, Pending>();
  private serving = new Map<unknown, AbortController>();
  private nextId = 1;
  private restarts: number[] = [];
  private usable: Promise<void> = Promise.resolve();
  private release: (() => void) | undefined;
  private patience = 0;
  private grace = 0;
  private resting: NodeJS.Timeout | undefined;
  private diedAt = 0;
  private stderr = "";
  /** Why there is no memory, for a person; empty while there is. */
  reason = "it has not been started";

  constructor(private readonly options: LinkOptions) {}

  get isReady(): boolean {
    return this.state === "ready";
  }

  get isDown(): boolean {
    return this.state === "down" || this.state === "closed";
  }

  /** Start the child; returns at once. */
  start(): void {
    this.state = "starting";
    this.reason = "it is still starting";
    this.patience = this.grace = Date.now() + this.options.patienceMs;
    this.hold();
    this.launch();
  }

  /** Ask for the outcome of an event: undefined where the child is slow or gone, and nobody waits for it twice. */
  async ask(method: string, params: Json, seconds: number): Promise<Json | undefined> {
    if (this.resting !== undefined) this.rest();
    if (this.state === "starting") await this.usableWithin(this.patience - Date.now());
    if (this.state !== "ready") return undefined;
    try {
      return await this.request(method, params, { seconds });
    } catch (error) {
      if (error instanceof Refusal && error.reason === "deadline") this.openBreaker();
      return undefined;
    }
  }

  /** Tell the child of an event. */
  tell(method: string, params: Json): void {
    const backlog = this.child?.stdin.writableLength ?? 0;
    if ((this.state === "ready" || this.state === "slow") && backlog < MAX_BACKLOG) {
      this.send({ jsonrpc: "2.0", method, params });
    }
  }

  /**
   * Resolve once the child answers, or nobody tries any longer; for calls, which are worth a wait. It ends after `ms`,
   * by default when the patience that all calls share since the last fault is used up.
   */
  async whenUsable(ms: number = this.grace - Date.now()): Promise<void> {
    this.wake();
    await this.usableWithin(ms);
  }

  /** Send a request and wait for its answer. Throws a `Refusal`; `lost` means that the outcome is unknown. */
  request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    if (this.child === undefined || this.isDown || (this.state === "slow" && method !== "ping")) {
      return Promise.reject(new Refusal("off", this.reason));
    }
    const id = this.nextId++;
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    if (Buffer.byteLength(line) >= MAX_LINE) return Promise.reject(new Refusal("too_long", "This is too long for memory."));
    return new Promise<Json>((resolve, reject) => {
      const cancel = (reason: string): void => {
        this.send({ jsonrpc: "2.0", method: "$/cancel", params: { id } });
        finish();
        reject(new Refusal(reason));
      };
      const onAbort = (): void => cancel("aborted");
      const timer = setTimeout(() => cancel("deadline"), options.seconds * 1000);
      const finish = (): void => {
        clearTimeout(timer);
        options.signal?.removeEventListener("abort", onAbort);
        this.pending.delete(id);
      };
      this.pending.set(id, {
        resolve: (result) => (finish(), resolve(result)),
        reject: (error) => (finish(), reject(error)),
      });
      this.write(line);
      if (options.signal?.aborted) onAbort();
      else options.signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** End the session and the child: asked, then told, then killed; it is gone when this resolves. */
  async close(reason: string): Promise<void> {
    const child = this.child;
    const wasReady = this.state === "ready";
    const goodbye = wasReady ? this.request("shutdown", { reason }, { seconds: 2 }).catch(() => undefined) : undefined;
    this.state = "closed";
    this.reason = "the session has ended";
    clearTimeout(this.resting);
    this.letGo();
    await goodbye;
    this.dropAll("lost");
    if (child === undefined) return;
    child.stdin.end();
    for (const [ms, signal] of [[wasReady ? 500 : 100, "SIGTERM"], [1000, "SIGKILL"]] as const) {
      if (await this.goneWithin(ms)) return;
      child.kill(signal);
    }
    await this.goneWithin(1000);
  }

  private async usableWithin(ms: number): Promise<void> {
    if (ms > 0) await Promise.race([this.usable, wait(ms)]);
  }

  private launch(): void {
    const [program, ...args] = this.options.command;
    if (program === undefined) return this.giveUp("no Python interpreter is configured; run `persona install pi`");
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    this.child = child;
    this.stderr = "";
    this.exited = new Promise((resolve) => {
      child.once("error", (error) => {
        resolve();
        if (this.child === child) this.giveUp(`Python could not be started (${(error as NodeJS.ErrnoException).code})${LOOK}`);
      });
      child.once("close", (code, signal) => {
        resolve();
        if (this.child === child) this.onExit(signal ?? `exit ${code}`);
      });
    });
    // Without a listener, a write to a child that has just died would end Pi itself.
    child.stdin.on("error", () => {});
    child.stderr.on("data", (data: Buffer) => {
      this.stderr = (this.stderr + data.toString()).slice(-4096);
    });
    this.listen(child);
    this.request("initialize", this.options.hello(), { seconds: START_SECONDS }).then(
      (greeting) => this.onReady(greeting),
      (error: Error) => this.onNotReady(child, error),
    );
  }

  private onReady(greeting: Json): void {
    if (this.state !== "starting") return;
    this.state = "ready";
    this.reason = "";
    this.options.ready(greeting);
    this.letGo();
  }

  private onNotReady(child: ChildProcessWithoutNullStreams, error: Error): void {
    // A child that dies is handled where its death is noticed; here it lives and refuses.
    const alive = child.exitCode === null && child.signalCode === null;
    if (this.state !== "starting" || this.child !== child || !alive) return;
    if (error instanceof Refusal && error.reason === "lost") return;
    this.giveUp(error.message);
    child.kill("SIGKILL");
  }

  private onExit(how: string): void {
    const before = this.state;
    this.child = undefined;
    this.dropAll("lost");
    if (before === "closed" || before === "down") return;
    if (before === "starting") {
      const last = this.stderr.trim().split("\n").at(-1) ?? "";
      return this.giveUp(`Python ended while it started (${how}) ${last}`.trim().slice(0, 300) + LOOK);
    }
    const now = Date.now();
    this.restarts = [...this.restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.restarts.length > MAX_RESTARTS) return this.giveUp(`Python ended again and again (${how})${LOOK}`);
    this.state = "starting";
    this.reason = "it is being started again";
    [this.patience, this.diedAt, this.grace] = [now, now, now + this.options.patienceMs];
    this.hold();
    this.rest();
  }

  /** Start again once nobody is in the middle of a turn: a start takes the machine's time from whoever is. */
  private rest(): void {
    clearTimeout(this.resting);
    const left = Math.max(this.diedAt + REST_LIMIT_MS - Date.now(), 0);
    this.resting = setTimeout(() => this.wake(), Math.min(QUIET_MS, left)).unref();
  }

  private wake(): void {
    if (this.resting === undefined) return;
    clearTimeout(this.resting);
    this.resting = undefined;
    this.launch();
  }

  /** From here to `letGo` the child cannot be used, through restarts as well. */
  private hold(): void {
    if (this.release !== undefined) return;
    this.usable = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  private letGo(): void {
    this.release?.();
    this.release = undefined;
  }

  private giveUp(reason: string): void {
    if (this.isDown) return;
    this.state = "down";
    this.reason = reason;
    this.dropAll("off");
    this.letGo();
    this.options.down(reason);
  }

  /** No event waits for this child again until it answers a ping. */
  private openBreaker(): void {
    const child = this.child;
    if (this.state !== "ready" || child === undefined) return;
    this.state = "slow";
    this.reason = "it does not answer";
    this.grace = Date.now() + this.options.patienceMs;
    this.hold();
    this.request("ping", {}, { seconds: PING_SECONDS }).then(
      () => {
        if (this.state !== "slow" || this.child !== child) return;
        [this.state, this.reason] = ["ready", ""];
        this.letGo();
      },
      () => child.kill("SIGKILL"),
    );
  }

  private async goneWithin(ms: number): Promise<boolean> {
    let gone = false;
    await Promise.race([this.exited.then(() => (gone = true)), wait(ms)]);
    return gone;
  }

  private dropAll(reason: string): void {
    for (const call of [...this.pending.values()]) call.reject(new Refusal(reason, this.reason || reason));
    for (const controller of this.serving.values()) controller.abort();
    this.pending.clear();
    this.serving.clear();
  }

  private send(message: Json): void {
    this.write(JSON.stringify(message));
  }

  private write(line: string): void {
    if (this.child?.stdin.writable) this.child.stdin.write(`${line}\n`);
  }

  private listen(child: ChildProcessWithoutNullStreams): void {
    let chunks: Buffer[] = [];
    let length = 0;
    let garbage = 0;
    const line = (text: string): void => {
      const message = parse(text);
      if (message !== undefined) this.take(message);
      else if (++garbage > MAX_GARBAGE) child.kill("SIGKILL");
    };
    child.stdout.on("data", (data: Buffer) => {
      let start = 0;
      for (let end = data.indexOf(LF); end >= 0; end = data.indexOf(LF, start)) {
        line(Buffer.concat([...chunks, data.subarray(start, end)]).toString("utf8"));
        [chunks, length, start] = [[], 0, end + 1];
      }
      chunks.push(data.subarray(start));
      length += data.length - start;
      if (length > MAX_LINE) child.kill("SIGKILL");
    });
  }

  private take(message: Json): void {
    const { id, method } = message;
    if (typeof method !== "string") {
      const call = this.pending.get(id as number);
      if (message.error === undefined) call?.resolve((message.result ?? {}) as Json);
      else call?.reject(refusalOf(message.error as Json));
    } else if (id === undefined) {
      const params = (message.params ?? {}) as Json;
      if (method === "$/cancel") this.serving.get(params.id)?.abort();
      else this.options.notice(method, params);
    } else {
      void this.serve(id, method, (message.params ?? {}) as Json);
    }
  }

  private async serve(id: unknown, method: string, params: Json): Promise<void> {
    const controller = new AbortController();
    this.serving.set(id, controller);
    try {
      // Not awaited where it need not be: an append is compared and done in the tick in which it arrives.
      const result = this.options.answer(method, params, controller.signal);
      this.send({ jsonrpc: "2.0", id, result: result instanceof Promise ? await result : result });
    } catch (error) {
      const reason = error instanceof Refusal ? error.reason : "failed";
      this.send({ jsonrpc: "2.0", id, error: { code: -32000, message: reason, data: { reason } } });
    } finally {
      this.serving.delete(id);
    }
  }
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(error: Json): Refusal {
  const data = (error.data ?? {}) as Json;
  return new Refusal(String(data.reason ?? "failed"), String(error.message ?? "failed"), data);
}

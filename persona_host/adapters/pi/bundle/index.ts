/**
 * persona-mind in Pi: this extension only translates. What is offered stands in the manifest beside it, what is done is
 * done in Python, at the other end of the link.
 *
 * Memory enters a request through the `context` hook and is therefore never written to the session file. No handler
 * waits for Python longer than its deadline, and `session_start` does not wait at all.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { ContextEvent, ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";

import { type Card, PiHost } from "./host.ts";
import { type Json, Link, Refusal } from "./link.ts";

const PROTOCOL = 1;
/** How long the first events of a session may wait, all together, for Python to start; longer on a slow machine. */
const PATIENCE_MS = Number(process.env.PERSONA_PATIENCE_MS) || 1500;
/** A little more than Python's own budgets, so that one late plugin is not taken for a hung process. */
const INPUT_SECONDS = 0.4;
const BLOCK_SECONDS = 0.9;
const EXTRACTION_SECONDS = 30;
const COMMAND_SECONDS = 60;
const TOOL_SECONDS = 300;
const MAX_TEXT = 256 * 1024;

interface Manifest {
  hash: string;
  tools: { name: string; description: string; parameters: Json }[];
  commands: { name: string; description: string }[];
  renders: string[];
}

interface Config {
  command: string[];
  manifest: Manifest;
}

type Messages = ContextEvent["messages"];

export default function personaMind(pi: ExtensionAPI): void {
  const { command, manifest } = configuration();
  let bridge: Bridge | undefined;

  pi.registerFlag("persona", { type: "string", description: "The persona that speaks in this session" });
  for (const tool of manifest.tools) registerTool(pi, tool, () => bridge);
  for (const item of manifest.commands) registerCommand(pi, item, () => bridge);
  for (const type of manifest.renders) registerCard(pi, type, () => bridge);

  pi.on("session_start", (event, ctx) => {
    // Pi 1.4 announces a new session twice.
    if (bridge?.serves(ctx)) return;
    void bridge?.close("replaced");
    bridge = new Bridge(pi, ctx, command, manifest, event.reason);
    bridge.start();
  });
  pi.on("session_shutdown", async (event) => {
    await bridge?.close(event.reason);
    bridge = undefined;
  });
  pi.on("input", (event) => bridge?.input(event.text, event.source));
  pi.on("before_agent_start", (event) =>
    bridge?.prepare(event.messageType === "user" ? event.prompt : textOf(event.message.content)),
  );
  pi.on("context", (event) => bridge?.inject(event.messages));
  pi.on("agent_start", () => bridge?.tell("agent_start"));
  pi.on("agent_end", () => bridge?.tell("agent_end"));
  pi.on("agent_settled", (event) => bridge?.settled(event.aborted));
  pi.on("session_tree", () => bridge?.tell("session_tree"));
  pi.on("session_compact", () => bridge?.tell("session_compact"));
  pi.on("model_select", (event) => bridge?.tell("model_select", { model: `${event.model.provider}/${event.model.id}` }));
  pi.on("message_start", ({ message }) => {
    if (message.role !== "custom") return;
    bridge?.tell("message_start", { customType: message.customType, text: textOf(message.content) });
  });
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant") return;
    const { input, output, cacheRead } = message.usage;
    bridge?.tell("message_end", { role: message.role, usage: { input, output, cache: cacheRead } });
  });
}

/** One session: the link, the host's side of it, and the block for the next requests. */
class Bridge {
  private readonly host: PiHost;
  private readonly link: Link;
  private hooks = new Set<string>();
  private prompt = "";
  private block = "";
  private outdated = false;
  private readonly ours: Set<string>;

  constructor(
    private readonly pi: ExtensionAPI,
    private readonly ctx: ExtensionContext,
    command: string[],
    private readonly manifest: Manifest,
    private readonly reason: string,
  ) {
    this.host = new PiHost(pi, ctx);
    this.ours = new Set(manifest.tools.map((tool) => tool.name));
    this.link = new Link({
      command,
      hello: () => this.hello(),
      ready: (greeting) => this.ready(greeting),
      down: (why) => this.down(why),
      answer: (method, params, signal) => this.host.answer(method, params, signal),
      notice: (method, params) => this.notice(method, params),
    });
  }

  serves(ctx: ExtensionContext): boolean {
    return ctx.sessionManager.getSessionId() === this.ctx.sessionManager.getSessionId();
  }

  start(): void {
    this.link.start(PATIENCE_MS);
  }

  async close(reason: string): Promise<void> {
    this.host.close();
    this.block = "";
    await this.link.close(reason);
  }

  tell(hook: string, params: Json = {}): void {
    if (this.hooks.has(hook)) this.link.tell(`event/${hook}`, this.here(params));
  }

  async input(text: string, source: string): Promise<{ action: "handled" } | { action: "transform"; text: string } | undefined> {
    const answer = await this.link.ask("event/input", this.here({ text: text.slice(0, MAX_TEXT), source }), INPUT_SECONDS);
    if (answer?.action === "handled") {
      this.card(answer.card as Card);
      return { action: "handled" };
    }
    if (answer?.action === "transform" && text.length <= MAX_TEXT) return { action: "transform", text: String(answer.text) };
    return undefined;
  }

  /** Fetch the block for the run that begins. */
  async prepare(prompt: string): Promise<undefined> {
    this.prompt = prompt.slice(0, MAX_TEXT);
    this.block = "";
    if (this.hooks.has("before_turn")) {
      await this.link.ask("event/before_turn", this.here({ text: this.prompt }), EXTRACTION_SECONDS);
    }
    await this.refresh();
    return undefined;
  }

  /** Put the block before the last words of the person's, for this request only. */
  async inject(messages: Messages): Promise<{ messages: Messages } | undefined> {
    if (this.outdated) await this.refresh();
    if (this.block === "") return undefined;
    const place = messages.findLastIndex((message) => message.role === "user");
    const memory = { type: "text" as const, text: this.block };
    if (place < 0) return { messages: [{ role: "user", content: [memory], timestamp: 0 }, ...messages] };
    const spoken = messages[place]!;
    if (spoken.role !== "user") return undefined;
    const said = typeof spoken.content === "string" ? [{ type: "text" as const, text: spoken.content }] : spoken.content;
    return { messages: messages.with(place, { ...spoken, content: [memory, ...said] }) };
  }

  async settled(aborted: boolean): Promise<void> {
    // Not awaited by Pi for long: the cards of late work may come whenever they come.
    if (!this.link.isReady || !this.hooks.has("agent_settled")) return;
    this.link.request("event/agent_settled", this.here({ aborted }), { seconds: 10 }).then(
      (answer) => (answer.cards as Card[]).forEach((card) => this.card(card)),
      () => undefined,
    );
  }

  async command(line: string): Promise<void> {
    await this.link.whenUsable(COMMAND_SECONDS * 1000);
    try {
      const answer = await this.link.request("command", this.here({ line }), { seconds: COMMAND_SECONDS });
      if (answer.changed !== "no") this.outdated = true;
      this.card(answer.card as Card);
    } catch (error) {
      this.host.show(unavailable(error), "warning");
    }
  }

  async complete(line: string): Promise<string[]> {
    const answer = await this.link.ask("complete", { line }, 0.2);
    return (answer?.items ?? []) as string[];
  }

  async tool(name: string, args: Json, signal: AbortSignal | undefined): Promise<Json> {
    await this.link.whenUsable(PATIENCE_MS);
    const options = { seconds: TOOL_SECONDS, ...(signal === undefined ? {} : { signal }) };
    return this.link.request("tool", this.here({ name, arguments: args }), options);
  }

  private async refresh(): Promise<void> {
    this.outdated = false;
    const answer = await this.link.ask("event/before_agent_start", this.here({ prompt: this.prompt }), BLOCK_SECONDS);
    this.block = typeof answer?.block === "string" ? answer.block : "";
  }

  private here(params: Json): Json {
    return { ...params, leaf: this.ctx.sessionManager.getLeafId() };
  }

  private hello(): Json {
    const persona = this.pi.getFlag("persona");
    return {
      ...this.host.identity(),
      protocol: PROTOCOL,
      manifest: this.manifest.hash,
      host: { name: "pi", lacks: this.ctx.hasUI ? [] : ["ui"] },
      reason: this.reason,
      trusted: this.ctx.isProjectTrusted(),
      persona: typeof persona === "string" && persona !== "" ? persona : null,
    };
  }

  private ready(greeting: Json): void {
    this.hooks = new Set(greeting.hooks as string[]);
    this.adopt(greeting.current as Manifest | undefined);
    this.offer(greeting.tools as string[]);
    void this.fillCards();
  }

  /** Python is of another release than the manifest beside this file, or has other plugins: what it says counts. */
  private adopt(current: Manifest | undefined): void {
    if (current === undefined) return;
    for (const tool of current.tools) {
      this.ours.add(tool.name);
      registerTool(this.pi, tool, () => this);
    }
    for (const item of current.commands) registerCommand(this.pi, item, () => this);
    for (const type of current.renders) registerCard(this.pi, type, () => this);
    if (this.manifest.hash !== "") {
      this.host.show("persona: what Pi knows is of another release; run `persona install pi` to renew it", "warning");
    }
  }

  /** Offer these tools of ours and no others; the loadout is left alone where it is right already. */
  private offer(names: readonly string[]): void {
    const active = this.pi.getActiveTools();
    const wanted = [...active.filter((name) => !this.ours.has(name)), ...names];
    if (wanted.length !== active.length || wanted.some((name) => !active.includes(name))) this.pi.setActiveTools(wanted);
  }

  private down(reason: string): void {
    this.block = "";
    this.offer([]);
    this.host.show(off(reason), "warning");
  }

  private notice(method: string, params: Json): void {
    // What comes in while Python ends its session finds a context that Pi has already withdrawn: touching it throws.
    if (this.host.isClosed) return;
    if (method === "ui.notify") this.host.show(String(params.text), String(params.level));
    else if (method === "ui.status") this.host.status(String(params.key), params.text === null ? undefined : String(params.text));
    else if (method === "host.tools") this.offer(params.names as string[]);
    else if (method === "ui.card") this.entryCard(String(params.entryId), params as unknown as Card);
  }

  private card(card: Card): void {
    this.host.show(card.expanded.join("\n"), card.level);
  }

  /** In the terminal a card stands in the conversation, where its entry is; elsewhere it is a notice. */
  private entryCard(id: string, card: Card): void {
    this.host.cards.set(id, card);
    if (this.ctx.mode === "tui") this.repaint();
    else this.host.show(card.compact.join("\n"), card.level);
  }

  /** Make the cards of a resumed session's entries, from what is stored now. */
  private async fillCards(): Promise<void> {
    if (this.ctx.mode !== "tui") return;
    const entries = this.ctx.sessionManager.getBranch().filter((entry) => entry.type === "custom");
    const wanted = entries.map(({ id, customType, data }) => ({ id, customType, data: data ?? {} }));
    if (wanted.length === 0) return;
    const answer = await this.link.request("cards", { entries: wanted }, { seconds: 10 }).catch(() => undefined);
    for (const [id, card] of Object.entries((answer?.cards ?? {}) as Record<string, Card>)) this.host.cards.set(id, card);
    this.repaint();
  }

  /** What an entry's card says, as far as it is known by now. */
  lines(id: string, expanded: boolean): string {
    const card = this.host.cards.get(id);
    return (expanded ? card?.expanded : card?.compact)?.join("\n") ?? "";
  }

  private repaint(): void {
    // Pi repaints when its status line is set; an entry's renderer has no handle of its own.
    this.host.status("persona", undefined);
  }
}

function registerTool(pi: ExtensionAPI, tool: Manifest["tools"][number], bridge: () => Bridge | undefined): void {
  pi.registerTool({
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters: tool.parameters as never,
    // Python says whether there is an owner to offer it for; until then nobody is promised a memory.
    defaultActive: false,
    async execute(_id, params, signal) {
      try {
        const answer = await running(bridge()).tool(tool.name, params as Json, signal);
        const details = { ok: answer.ok === true, changed: String(answer.changed) };
        return { content: [{ type: "text", text: String(answer.text) }], details, isError: !details.ok };
      } catch (error) {
        return { content: [{ type: "text", text: unavailable(error) }], details: { ok: false, changed: "unknown" }, isError: true };
      }
    },
  });
}

function registerCommand(pi: ExtensionAPI, item: Manifest["commands"][number], bridge: () => Bridge | undefined): void {
  const prefix = `/${item.name} `;
  pi.registerCommand(item.name, {
    description: item.description,
    handler: async (args) => running(bridge()).command(`${prefix}${args}`.trim()),
    getArgumentCompletions: async (typed) => {
      const items = (await bridge()?.complete(prefix + typed)) ?? [];
      const before = typed.slice(0, typed.lastIndexOf(" ") + 1);
      const values = items.map((text) => (text.startsWith(prefix) ? text.slice(prefix.length) : before + text));
      return values.map((value) => ({ value, label: value }));
    },
  });
}

function registerCard(pi: ExtensionAPI, type: string, bridge: () => Bridge | undefined): void {
  // Drawn from what is known at that moment: the cards of a resumed session come after its first picture.
  pi.registerEntryRenderer(type, (entry, { expanded }) => ({
    render: (width) => new Text(bridge()?.lines(entry.id, expanded) ?? "", 1, 0).render(width),
    invalidate: () => undefined,
  }));
}

function running(bridge: Bridge | undefined): Bridge {
  if (bridge === undefined) throw new Refusal("off", "the session has ended");
  return bridge;
}

function off(reason: string): string {
  return `Memory is off: ${reason.replace(/\.$/, "")}.`;
}

function unavailable(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  switch (error.reason) {
    case "off":
      return off(error.message);
    case "lost":
    case "deadline":
      return "Memory stopped answering. Whether anything was changed is unknown: look before you try again.";
    case "aborted":
      return "Memory was not waited for. Whether anything was changed is unknown: look before you try again.";
    default:
      return error.message;
  }
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
  return text.slice(0, MAX_TEXT);
}

/** Which Python, and what it offers: files beside this one, written by `persona install pi`. */
function configuration(): Config {
  const read = (name: string): Json => {
    try {
      return JSON.parse(readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8")) as Json;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  };
  const python = process.env.PERSONA_PYTHON || read("config.json").python;
  // -P: a file in the project's own folder must not pass for a module of ours.
  const command = typeof python === "string" ? [python, "-P", "-m", "persona_host.adapters.stdio"] : [];
  return { command, manifest: { hash: "", tools: [], commands: [], renders: [], ...read("manifest.json") } as Manifest };
}

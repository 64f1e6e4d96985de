/**
 * persona-mind in Pi: this extension only translates. What is offered stands in the manifest beside it, what is done is
 * done in Python, at the other end of the link.
 *
 * Memory enters a request through the `context` hook and is therefore never written to the session file. No handler
 * waits for Python longer than its deadline, and `session_start` does not wait at all.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import { Bridge } from "./bridge.ts";
import { CHANGED } from "./foreign.ts";
import { configuration, offer } from "./offer.ts";
import { textOf } from "./words.ts";

export default function personaMind(pi: ExtensionAPI): void {
  const { command, manifest } = configuration();
  let bridge: Bridge | undefined;

  pi.registerFlag("persona", { type: "string", description: "The persona that speaks in this session" });
  pi.registerFlag("persona-role", { type: "string", description: "Which of the persona's layers are seen" });
  offer(pi, manifest, () => bridge);
  pi.events.on(CHANGED, () => bridge?.companionChanged());

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
  pi.on("tool_call", (event) => bridge?.toolCall(event));
  pi.on("tool_result", (event) => bridge?.toolResult(event));
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

/** What a person or a model is told where memory does not answer, and the text of what Pi shows us. */

import { Refusal } from "./link.ts";

/** The longest text that crosses the wire for a hook; of a longer one only the beginning is looked at. */
export const MAX_TEXT = 256 * 1024;

export function off(reason: string): string {
  return `Memory is off: ${reason.replace(/\.$/, "")}.`;
}

export function unavailable(error: unknown): string {
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

export function textOf(content: string | readonly { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
  return text.slice(0, MAX_TEXT);
}

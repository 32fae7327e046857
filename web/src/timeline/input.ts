// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel, touch and keys of the timeline. Perfetto's users find their keys here.
import { isTyping } from "../hooks.js";
import type { Board } from "./board.js";

const CLICK_SLACK = 4; // pixels that a click may move
const WHEEL_LINE = 16; // pixels of a line
const ZOOM_KEY = 0.8; // a key press
const PAN_KEY = 0.15;

/** Attaches the mouse and touch to the canvas; returns the function that detaches them. */
export function attachPointer(board: Board): () => void {
  const { canvas } = board;
  const touches = new Map<number, { x: number; y: number }>();
  let drag: { x: number; y: number; kind: "pan" | "measure" | "overview" | "none"; moved: boolean; time: number } | null = null;

  const placeOf = (event: { clientX: number; clientY: number }) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const centreOverview = (time: number) => {
    const { from, to } = board.scene.camera.target;
    board.scene.camera.show(time - (to - from) / 2, time + (to - from) / 2, true);
    board.moved();
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const at = placeOf(event);
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, at);
    const place = board.placeAt(at.x, at.y);
    const kind = place.kind === "overview" ? "overview" : event.shiftKey ? "measure" : "pan";
    drag = { ...at, kind, moved: false, time: board.timeAt(at.x) };
    if (place.kind === "overview") centreOverview(place.time);
  };
  const pinch = (event: PointerEvent, at: { x: number; y: number }) => {
    const [other] = [...touches].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const before = touches.get(event.pointerId) ?? at;
    const factor = Math.max(20, Math.abs(before.x - other.x)) / Math.max(20, Math.abs(at.x - other.x));
    board.scene.camera.zoom(factor, board.timeAt((at.x + other.x) / 2), true);
    board.scene.camera.pan((before.x - at.x) / 2 / canvas.clientWidth, true);
    board.moved();
  };
  const move = (event: PointerEvent) => {
    const at = placeOf(event);
    if (touches.size === 2 && touches.has(event.pointerId)) {
      pinch(event, at);
      touches.set(event.pointerId, at);
      if (drag) drag.kind = "none";
      return;
    }
    if (touches.has(event.pointerId)) touches.set(event.pointerId, at);
    if (!drag) {
      hover(board, at.x, at.y);
      return;
    }
    if (!drag.moved && Math.abs(at.x - drag.x) + Math.abs(at.y - drag.y) < CLICK_SLACK) return;
    drag.moved = true;
    board.events.onHover(-1, 0, 0);
    if (drag.kind === "measure") {
      const time = board.timeAt(at.x);
      board.events.onMeasure({ from: Math.min(drag.time, time), to: Math.max(drag.time, time) });
    } else if (drag.kind === "overview") {
      const place = board.placeAt(at.x, drag.y);
      if (place.kind === "overview") centreOverview(place.time);
    } else if (drag.kind === "pan") {
      const { camera } = board.scene;
      const step = (drag.x - at.x) * board.nsPerPixel;
      camera.show(camera.from + step, camera.to + step, true);
      board.scrollBy(drag.y - at.y);
      drag.x = at.x;
      drag.y = at.y;
      board.moved();
    }
  };
  const up = (event: PointerEvent) => {
    touches.delete(event.pointerId);
    if (drag && !drag.moved && drag.kind === "pan" && event.type === "pointerup") click(board, drag.x, drag.y);
    if (!touches.size) drag = null;
  };
  const leave = () => {
    board.scene.pointer = null;
    board.scene.hovered = -1;
    board.events.onHover(-1, 0, 0);
    board.redraw();
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const factor = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE : 1;
    const [dx, dy] = [event.deltaX * factor, event.deltaY * factor];
    const { camera } = board.scene;
    if (event.ctrlKey || event.metaKey) {
      camera.zoom(Math.exp(Math.max(-1, Math.min(1, dy / 300))), board.timeAt(placeOf(event).x));
    } else {
      const sideways = event.shiftKey && dx === 0 ? dy : dx;
      // Without cores to scroll to, the wheel moves in time.
      const scrolled = event.shiftKey ? true : Math.abs(dy) > Math.abs(dx) && board.scrollBy(dy);
      camera.pan((scrolled ? sideways : sideways || dy) / canvas.clientWidth, true);
    }
    board.moved();
  };
  const double = (event: MouseEvent) => {
    const at = placeOf(event);
    const place = board.placeAt(at.x, at.y);
    if (place.kind === "core" && place.part >= 0) board.reveal(board.scene.data.taskOfPart[place.part], true);
  };

  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("dblclick", double);
  return () => {
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointercancel", up);
    canvas.removeEventListener("pointerleave", leave);
    canvas.removeEventListener("wheel", wheel);
    canvas.removeEventListener("dblclick", double);
  };
}

function hover(board: Board, x: number, y: number): void {
  const place = board.placeAt(x, y);
  board.scene.pointer = { x, y };
  board.scene.hovered = place.kind === "core" ? place.part : -1;
  board.events.onHover(board.scene.hovered, x, y);
  board.canvas.style.cursor = board.scene.hovered >= 0 || (place.kind === "scope" && place.scope >= 0) ? "pointer" : "crosshair";
  board.redraw();
}

function click(board: Board, x: number, y: number): void {
  const place = board.placeAt(x, y);
  if (place.kind === "scope" && place.scope >= 0) board.events.onScope(place.scope);
  else if (place.kind === "core") board.events.onSelect(place.part < 0 ? -1 : board.scene.data.taskOfPart[place.part]);
}

/** Actions of keys that the view adds: search, marks. */
export type KeyActions = Record<string, () => void>;

/** Attaches the keys to the window: they work wherever the focus is, except in fields. */
export function attachKeys(board: () => Board | null, actions: () => KeyActions): () => void {
  const press = (event: KeyboardEvent) => {
    const now = board();
    if (!now || isTyping(event) || document.querySelector("dialog[open]")) return;
    const act = actions()[event.key] ?? movesOf(now)[event.shiftKey ? event.key : event.key.toLowerCase()];
    if (!act) return;
    // Buttons, links and lists use these keys themselves.
    const inPage = event.target instanceof HTMLElement && event.target !== now.canvas && event.target !== document.body;
    if (inPage && /^(Enter| |Arrow.*)$/.test(event.key)) return;
    event.preventDefault();
    act();
  };
  window.addEventListener("keydown", press);
  return () => window.removeEventListener("keydown", press);
}

function movesOf(board: Board): KeyActions {
  const { camera } = board.scene;
  const centre = () => {
    const { pointer } = board.scene;
    return pointer ? board.timeAt(pointer.x) : (camera.target.from + camera.target.to) / 2;
  };
  const then = (act: () => void) => () => {
    act();
    board.moved();
  };
  const zoomIn = then(() => camera.zoom(ZOOM_KEY, centre()));
  const zoomOut = then(() => camera.zoom(1 / ZOOM_KEY, centre()));
  const left = then(() => camera.pan(-PAN_KEY));
  const right = then(() => camera.pan(PAN_KEY));
  const row = (board.painter.layout?.coreHeight ?? 20) * 2;
  return {
    w: zoomIn,
    "+": zoomIn,
    "=": zoomIn,
    s: zoomOut,
    "-": zoomOut,
    a: left,
    arrowleft: left,
    d: right,
    arrowright: right,
    arrowup: () => void board.scrollBy(-row),
    arrowdown: () => void board.scrollBy(row),
    pageup: then(() => camera.pan(-0.9)),
    pagedown: then(() => camera.pan(0.9)),
    home: then(() => camera.show(0, camera.target.to - camera.target.from)),
    end: then(() => camera.show(camera.span - (camera.target.to - camera.target.from), camera.span)),
    "0": then(() => camera.showAll()),
    ".": () => board.events.onSelect(board.neighbour(1)),
    ",": () => board.events.onSelect(board.neighbour(-1)),
    "]": () => board.events.onSelect(board.neighbourCore(1)),
    "[": () => board.events.onSelect(board.neighbourCore(-1)),
  };
}

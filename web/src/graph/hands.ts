// SPDX-License-Identifier: Apache-2.0
// The user's hands on the picture: wheel, trackpad, mouse, fingers.
import { useEffect, useRef } from "preact/hooks";

export interface Hands {
  /** A factor, and the point of the window that stays in its place. */
  zoom: (factor: number, x: number, y: number) => void;
  pan: (dx: number, dy: number) => void;
}

const STEP = 1.0016; // for each pixel of the wheel

/** Listens on the element. A click is not a drag: what lies under it gets it. */
export function useHands(element: { readonly current: Element | null }, hands: Hands, isThere: boolean): void {
  const latest = useRef(hands);
  latest.current = hands;
  useEffect(() => {
    const target = element.current as HTMLElement | null;
    if (!target) return undefined;
    const fingers = new Map<number, { x: number; y: number }>();
    let moved = 0; // pixels since the first finger came down
    const place = (event: MouseEvent) => {
      const box = target.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const unit = event.deltaMode === 0 ? 1 : 24;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      // A pinch on a trackpad comes as a wheel with Ctrl.
      if (!event.ctrlKey && (event.shiftKey || Math.abs(dx) > Math.abs(dy))) {
        latest.current.pan(-(dx || dy), event.shiftKey ? 0 : -dy);
      } else {
        const { x, y } = place(event);
        latest.current.zoom(STEP ** -(event.ctrlKey ? dy * 6 : dy), x, y);
      }
    };
    const onDown = (event: PointerEvent) => {
      if (event.pointerType === "mouse" && event.button !== 0 && event.button !== 1) return;
      if (fingers.size === 0) moved = 0;
      fingers.set(event.pointerId, place(event));
    };
    const onMove = (event: PointerEvent) => {
      const old = fingers.get(event.pointerId);
      if (!old) return;
      const now = place(event);
      moved += Math.hypot(now.x - old.x, now.y - old.y);
      if (moved < 4) return;
      if (!target.hasPointerCapture(event.pointerId)) target.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, now);
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(old.x - other.x, old.y - other.y), 1);
        latest.current.zoom(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
      }
      const share = other ? 0.5 : 1;
      latest.current.pan((now.x - old.x) * share, (now.y - old.y) * share);
    };
    const onUp = (event: PointerEvent) => fingers.delete(event.pointerId);
    const onClick = (event: MouseEvent) => {
      if (moved < 4) return;
      event.stopPropagation();
      moved = 0;
    };
    const end = new AbortController();
    const { signal } = end;
    target.addEventListener("wheel", onWheel, { passive: false, signal });
    target.addEventListener("pointerdown", onDown, { signal });
    target.addEventListener("pointermove", onMove, { signal });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) target.addEventListener(name, onUp, { signal });
    target.addEventListener("click", onClick, { capture: true, signal });
    return () => end.abort();
  }, [isThere]);
}

// SPDX-License-Identifier: Apache-2.0
// The stretch of time that the timeline shows, and how it moves. It glides to where the user wants it, unless the user prefers
// no motion.

const GLIDE_MS = 45; // two thirds of the way in this time
const NARROWEST = 4; // nanoseconds on the screen
const MOST_BEFORE = 0.25; // of the run: so much time before the first task belongs to the whole run
const FARTHEST_BEFORE = 1000; // times the run: nobody looks farther back, whatever a recording says
const AIR = 0.02; // how much of the screen may lie before the run and behind it

export class Camera {
  from: number;
  to: number;
  private wantFrom: number;
  private wantTo: number;
  private origin = 0; // the earliest time that can be shown

  constructor(
    public span: number,
    private readonly glides = true,
  ) {
    const air = this.air();
    this.from = this.wantFrom = -air;
    this.to = this.wantTo = span + air;
  }

  private air(): number {
    return Math.max(1, this.span) * AIR;
  }

  /** Where the whole run begins: at the first submission, unless it was long before the first task. */
  get home(): number {
    return -this.origin <= this.span * MOST_BEFORE ? this.origin : 0;
  }

  /** Tasks were submitted from `time` on, which may be before the first one ran (0). A camera that shows all shows that too. */
  setOrigin(time: number): void {
    const origin = Math.max(-FARTHEST_BEFORE * Math.max(1, this.span), Math.min(0, time));
    if (origin === this.origin) return;
    const whole = this.isWhole;
    this.origin = origin;
    if (whole) this.showAll(true);
  }

  /** The whole run is in sight. */
  get isWhole(): boolean {
    return this.wantFrom <= this.home && this.wantTo >= this.span;
  }

  get isMoving(): boolean {
    return this.from !== this.wantFrom || this.to !== this.wantTo;
  }

  /** Where it will be. */
  get target(): { from: number; to: number } {
    return { from: this.wantFrom, to: this.wantTo };
  }

  /** Wants to show [from, to], kept within the run. */
  show(from: number, to: number, atOnce = false): void {
    const air = this.air();
    const least = this.origin - air;
    const most = this.span + air - least;
    const width = Math.min(most, Math.max(NARROWEST, to - from));
    if (!Number.isFinite(from) || !Number.isFinite(width)) return;
    const left = (from + to - width) / 2;
    this.wantFrom = Math.max(least, Math.min(this.span + air - width, left));
    this.wantTo = this.wantFrom + width;
    if (atOnce || !this.glides) this.arrive();
  }

  arrive(): void {
    this.from = this.wantFrom;
    this.to = this.wantTo;
  }

  /** The width becomes `factor` times as large; the time `around` stays where it is on the screen. */
  zoom(factor: number, around: number, atOnce = false): void {
    const from = this.wantFrom;
    const to = this.wantTo;
    const most = this.span - this.origin + 2 * this.air();
    const width = Math.max(NARROWEST, Math.min((to - from) * factor, most));
    const share = (around - from) / (to - from);
    const left = around - share * width;
    this.show(left, left + width, atOnce);
  }

  /** Moves by a share of the screen. */
  pan(share: number, atOnce = false): void {
    const step = share * (this.wantTo - this.wantFrom);
    this.show(this.wantFrom + step, this.wantTo + step, atOnce);
  }

  showAll(atOnce = false): void {
    this.show(this.home - this.air(), this.span + this.air(), atOnce);
  }

  /** The run has grown. A camera that shows the end, or everything, follows it if `follow`. */
  grow(span: number, follow: boolean): void {
    const width = this.wantTo - this.wantFrom;
    const whole = this.isWhole;
    this.span = span;
    if (!follow) return;
    if (whole) this.showAll(true);
    else this.show(span + this.air() - width, span + this.air(), true);
  }

  /** Glides for `ms`; true if it has moved. */
  step(ms: number): boolean {
    if (!this.isMoving) return false;
    const share = 1 - Math.exp(-ms / GLIDE_MS);
    this.from += (this.wantFrom - this.from) * share;
    this.to += (this.wantTo - this.to) * share;
    const close = (this.wantTo - this.wantFrom) * 5e-4;
    if (Math.abs(this.from - this.wantFrom) < close && Math.abs(this.to - this.wantTo) < close) this.arrive();
    return true;
  }
}

/** The distance of ticks: 1, 2 or 5 times a power of ten, so that there are about `count` of them. */
export function tickStep(width: number, count: number): number {
  const rough = width / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10;
  return Math.max(1, step * power);
}

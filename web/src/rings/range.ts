// SPDX-License-Identifier: Apache-2.0

const LEAST = 4; // samples that stay visible

/** The samples that all charts show: [from, to) of `all`. */
export class Range {
  from = 0;
  to: number;
  private readonly all: number;

  constructor(
    samples: number,
    private readonly changed: () => void,
  ) {
    this.all = Math.max(samples, 1);
    this.to = this.all;
  }

  get width(): number {
    return this.to - this.from;
  }

  get middle(): number {
    return (this.from + this.to) / 2;
  }

  get isAll(): boolean {
    return this.width >= this.all;
  }

  get lastShown(): number {
    return Math.max(Math.ceil(this.to), 1) - 1;
  }

  show(from: number, to: number): void {
    const width = Math.min(Math.max(to - from, Math.min(LEAST, this.all)), this.all);
    this.from = Math.min(Math.max((from + to - width) / 2, 0), this.all - width);
    this.to = this.from + width;
    this.changed();
  }

  /** `at`: the position that stays in place. */
  zoom(factor: number, at = this.middle): void {
    const width = Math.min(this.width * factor, this.all);
    if (width < LEAST && factor < 1) return;
    const part = (at - this.from) / this.width;
    this.show(at - part * width, at - part * width + width);
  }

  move(part: number): void {
    const by = this.width * part;
    const room = by < 0 ? Math.max(by, -this.from) : Math.min(by, this.all - this.to);
    this.show(this.from + room, this.to + room);
  }

  reset(): void {
    this.show(0, this.all);
  }
}

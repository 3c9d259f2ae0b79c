// What has to be undone at the end, also when the end comes early: undone once, last first.

export interface Cleanup {
  /** Throws once the undoing has begun, so that whoever is still at work stops there; `undo` is done all the same. */
  add(undo: () => Promise<unknown>): void;
  run(): Promise<void>;
  running(): boolean;
}

export function createCleanup(): Cleanup {
  const undos: (() => Promise<unknown>)[] = [];
  let run: Promise<void> | undefined;

  const undoAll = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      await undo().catch((error: unknown) => console.error("Cleaning up failed:", error));
    }
  };
  return {
    add: (undo) => {
      undos.push(undo);
      if (run !== undefined) throw new Error("The benchmark is being stopped.");
    },
    run: () => {
      run ??= undoAll();
      return run;
    },
    running: () => run !== undefined,
  };
}

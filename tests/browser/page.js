// What the tests ask of JupyterLab's page: its own commands, as a menu runs them, and when they are done.
// Added to every frame before its code runs, so it keeps out of the applets' frames.
if (window === window.top) {
  const app = () => window.jupyterapp;
  const isOpen = (path) => Boolean(app()?.shell && find(path));
  const find = (path) => [...app().shell.widgets('main')].find((w) => w.context?.path === path && w.content?.widgets);
  const kernel = (path) => find(path)?.sessionContext.session?.kernel;
  const runs = [];

  // Starts a command, on a cell of the notebook if given, and returns its number at once: a dialog or a busy cell may keep
  // it for long. `runs[number]` is then its end: 'done', or what went wrong.
  const start = (path, command, args, cell) => {
    const panel = find(path);
    app().shell.activateById(panel.id);
    if (cell !== undefined) {
      panel.content.deselectAll();
      panel.content.activeCellIndex = cell;
    }
    const number = runs.push(null) - 1;
    app()
      .commands.execute(command, args)
      .then(() => 'done', String)
      .then((end) => (runs[number] = end));
    return number;
  };

  // Resolves to the id of the notebook's element once its kernel is there.
  const ready = async (path) => {
    const panel = find(path);
    await Promise.all([app().restored, panel.revealed, panel.context.ready, panel.sessionContext.ready]);
    return panel.id;
  };

  // Of one cell, or of all.
  const errors = (path, index) =>
    find(path).content.widgets.slice(index ?? 0, (index ?? Infinity) + 1).flatMap((cell) =>
      (cell.model.toJSON().outputs ?? [])
        .filter((output) => output.output_type === 'error')
        .map((output) => `${output.ename}: ${output.evalue}\n${output.traceback.join('\n')}`),
    );

  // Puts a cell at the end, as a person who types it there, and returns its index.
  const addCell = (path, source) => {
    const { sharedModel } = find(path).content.model;
    sharedModel.insertCell(sharedModel.cells.length, { cell_type: 'code', source });
    return sharedModel.cells.length - 1;
  };

  // Leaves one empty cell.
  const clear = (path) => {
    const { sharedModel } = find(path).content.model;
    sharedModel.insertCell(0, { cell_type: 'code', source: '' });
    sharedModel.deleteCellRange(1, sharedModel.cells.length);
  };

  const outputs = (path, index) => find(path).content.model.sharedModel.getCell(index).toJSON().outputs;

  // Has Lab look which kernels still run, as the button of its panel of running kernels does. By itself it looks when it
  // has time, which after a restart of the server can take a minute.
  const refresh = () => app().serviceManager.sessions.refreshRunning();

  const kernelStatus = (path) => kernel(path)?.status;
  const isDone = (path) => !runs.includes(null) && kernelStatus(path) === 'idle';
  window.labPage = { addCell, clear, errors, isDone, isOpen, kernelStatus, outputs, ready, refresh, runs, start };
}

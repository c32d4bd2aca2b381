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

  const errors = (path) =>
    find(path).content.widgets.flatMap((cell) =>
      (cell.model.toJSON().outputs ?? [])
        .filter((output) => output.output_type === 'error')
        .map((output) => `${output.ename}: ${output.evalue}\n${output.traceback.join('\n')}`),
    );

  const kernelStatus = (path) => kernel(path)?.status;
  const isDone = (path) => !runs.includes(null) && kernelStatus(path) === 'idle';
  window.labPage = { errors, isDone, isOpen, kernelStatus, ready, runs, start };
}

/* Words of other programs and of papers, and what jobs call the same. */
#include <ctype.h>
#include <string.h>

#include "job/build.h"

enum { NAMES = 4, WORD_MAX = 40 };

/* Compared by small letters and digits: "r_cut", "Rcut" and "rcut" are one word. Of several names
 * the first that the job could have is meant. */
static const struct {
    const char *word;
    const char *names[NAMES];
} words[] = {
    {"t", {"temperature"}},
    {"kt", {"temperature"}},
    {"beta", {"temperature"}},
    {"p", {"pressure"}},
    {"n", {"particles", "atoms", "size"}},
    {"natoms", {"particles", "atoms", "n"}},
    {"nparticles", {"particles", "atoms", "n"}},
    {"particles", {"n", "atoms"}},
    {"l", {"box", "size"}},
    {"length", {"box", "size"}},
    {"boxlength", {"box"}},
    {"rho", {"density"}},
    {"eta", {"packing_fraction"}},
    {"phi", {"packing_fraction"}},
    {"packing", {"packing_fraction"}},
    {"rc", {"cutoff"}},
    {"rcut", {"cutoff"}},
    {"lrc", {"tail_correction"}},
    {"tailcorrections", {"tail_correction"}},
    {"longrangecorrection", {"tail_correction"}},
    {"z", {"activity"}},
    {"fugacity", {"activity"}},
    {"chempot", {"mu"}},
    {"chemicalpotential", {"mu"}},
    {"walls", {"slit"}},
    {"framework", {"frozen"}},
    {"adsorbent", {"frozen"}},
    {"mixture", {"species"}},
    {"components", {"species"}},
    {"delta", {"max_displacement"}},
    {"dmax", {"max_displacement"}},
    {"stepsize", {"max_displacement"}},
    {"maxmove", {"max_displacement"}},
    {"initialconfiguration", {"start"}},
    {"steps", {"sweeps"}},
    {"nsteps", {"sweeps"}},
    {"runsteps", {"sweeps"}},
    {"cycles", {"sweeps"}},
    {"numberofcycles", {"sweeps"}},
    {"eqsteps", {"equilibration"}},
    {"thermalization", {"equilibration"}},
    {"burnin", {"equilibration"}},
    {"numberofinitializationcycles", {"equilibration"}},
    {"thermo", {"measure_every"}},
    {"sampleevery", {"measure_every"}},
    {"printevery", {"measure_every"}},
    {"nbins", {"gr_bins"}},
    {"rdf", {"gr"}},
    {"gr", {"gr"}},
    {"henry", {"henry_constant"}},
    {"qst", {"isosteric_heat"}},
    {"coexistence", {"density_liquid"}},
    {"widom", {"insertions"}},
    {"widominsertions", {"insertions"}},
    {"randomseed", {"seed"}},
    {"rngseed", {"seed"}},
    {"chains", {"replicas"}},
    /* values */
    {"gcmc", {"muvt"}},
    {"gcemc", {"muvt"}},
    {"uvt", {"muvt"}},
    {"grandcanonical", {"muvt"}},
    {"gemc", {"gibbs"}},
    {"gibbsensemble", {"gibbs"}},
    {"canonical", {"nvt"}},
    {"isobaric", {"npt"}},
    {"isothermalisobaric", {"npt"}},
    {"lj", {"lennard-jones", "lj-fluid"}},
    {"ljcut", {"lennard-jones", "lj-fluid"}},
    {"lennardjones", {"lennard-jones", "lj-fluid"}},
    {"tmmc", {"transition-matrix"}},
    {"hs", {"hard-spheres"}},
    {"hardsphere", {"hard-spheres"}},
    {"hd", {"hard-disks"}},
    {"harddisk", {"hard-disks"}},
    {"ising", {"spin-lattice"}},
};

const char *ergo_word_meant(const char *word, size_t i) {
    char plain[WORD_MAX + 1];
    size_t n = 0;
    for (const char *p = word; *p && n < WORD_MAX; p++)
        if (isalnum((unsigned char)*p))
            plain[n++] = (char)tolower((unsigned char)*p);
    plain[n] = '\0';
    for (size_t k = 0; n && i < NAMES && k < sizeof words / sizeof words[0]; k++)
        if (!strcmp(words[k].word, plain))
            return words[k].names[i];
    return NULL;
}

const char *ergo_word_begun(const char *word, const char *const *names, size_t n) {
    const size_t length = strlen(word);
    const char *found = NULL;
    for (size_t i = 0; length > 2 && i < n; i++) {
        if (!names[i] || strncasecmp(names[i], word, length) != 0)
            continue;
        if (found && strcmp(found, names[i]) != 0)
            return NULL;
        found = names[i];
    }
    return found;
}

// erf.
//
// Near 0: erf(x) = x + x p(x^2). Above: erf(a) = 1 - 2^u with u = log2(erfc(a)), itself a polynomial of a; since
// erfc(a) <= 0.19 there, neither u nor 2^u needs the full precision, and the weights of the fits say so. Both are
// computed for every lane and one is chosen. Polynomials: scripts/minimax.py, under the names of the arrays.
#include "deep_accel/compile/numerics/functions.h"

namespace deep_accel::compile {
namespace {

// (erf(x) / x - 1) of x^2, |x| <= 15/16: degree 5, 2^-25.6
constexpr double erf_f32[] = {0.128379151, -0.376124799, 0.112816207, -0.0267587472, 0.00498102885, -0.000592712022};
// log2(erfc(x)), 15/16 <= x <= 4: degree 6, 2^-28.8 of erf(x)
constexpr double erf_tail_f32[] = {-0.000322460022, -1.62672698,    -0.919536233,  -0.149699956,
                                   0.0319506451,    -0.00436142739, 0.000279728847};
// 2^r, |r| <= 1/2: degree 5, 2^-23.3, of which erf(x) feels at most 0.19
constexpr double erf_power_f32[] = {1.0, 0.693147242, 0.240222275, 0.0555027612, 0.00967220031, 0.00134160346};

// (erf(x) / x - 1) of x^2, |x| <= 1: degree 13, 2^-56.3
constexpr double erf_f64[] = {0.12837916709551259,    -0.37612638903183898,   0.11283791670960247,
                              -0.026866170645973544,  0.0052239776332702091,  -0.00085483274781356772,
                              0.00012055350479454211, -1.4926111527655596e-5, 1.6470564578842259e-6,
                              -1.6473353095736186e-7, 1.5737898551171463e-8,  -1.7509963096747778e-9,
                              2.6417809416452044e-10, -3.03184531812893e-11};
// log2(erfc(x)), 1 <= x <= 6: degree 18, 2^-58.9 of erf(x)
constexpr double erf_tail_f64[] = {
    -2.5912077279717267e-7, -1.627904377334801,      -0.91846076318458947,   -0.14823295285765747,
    0.027523962669050075,   0.00040465733271788124,  -0.0025521267891838368, 0.00092501581214625114,
    -6.4664966195747382e-5, -0.00010151743692511186, 6.4975004675148839e-5,  -2.3824470147712493e-5,
    6.2425653449852033e-6,  -1.227110952850664e-6,   1.8135265465536057e-7,  -1.9659050171038243e-8,
    1.4797651398007363e-9,  -6.9191871526763216e-11, 1.5142777104350991e-12};
// 2^r, |r| <= 1/2: degree 11, 2^-57.5
constexpr double erf_power_f64[] = {1.0,
                                    0.69314718055994529,
                                    0.24022650695910136,
                                    0.055504108664822957,
                                    0.0096181291075924345,
                                    0.0013333558146157627,
                                    0.0001540353045903993,
                                    1.5252734044177107e-5,
                                    1.3215434396937413e-6,
                                    1.0177982370707335e-7,
                                    7.0739248954489766e-9,
                                    4.4660487106723796e-10};

}  // namespace

Lanes lane_erf(Lanes x) {
  const bool wide = x.width() == 64;
  const Format format = Format::of(x);
  const Lanes a = at_most(abs(x), wide ? 6.0 : 4.0);  // erf rounds to 1 there
  const Lanes square = a * a;
  const Lanes near_zero = fma(a, wide ? polynomial(square, erf_f64) : polynomial(square, erf_f32), a);

  const double shift = format.rounding_shift(format.bias);
  const Lanes u = wide ? polynomial(a, erf_tail_f64) : polynomial(a, erf_tail_f32);
  const Lanes shifted = u + shift;
  const Lanes r = u - (shifted - shift);
  const Lanes power = wide ? polynomial(r, erf_power_f64) : polynomial(r, erf_power_f32);
  const Lanes above = fma(-power, power_from_shifted(shifted), 1.0);
  return with_sign_of(select(a < (wide ? 1.0 : 0.9375), near_zero, above), x);
}

}  // namespace deep_accel::compile
